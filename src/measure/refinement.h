// Which sizes of a curve are measured besides the powers of four, so that a straight line between
// neighbours tells every size: the idea of SKaMPI (Reussner et al., 1998), with what noise explains
// left out; and the sizes from which on an MPI library takes another way. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace haichi::measure {

/// A point of a curve: seconds, and the interval of its median.
struct Known {
  int64_t bytes;
  double median, low, high;

  /// Half of the interval as a share.
  double noise() const { return (high - low) / 2 / median; }
};

/// Sizes are multiples of this.
inline constexpr int64_t kSizeStep = 4;

/// The value of the straight line through two points.
double between(const Known& a, const Known& b, int64_t bytes);

/// Splits the interval in which interpolation errs most, weighted by how many sizes (on a scale of
/// powers) it has. Two points kSizeStep apart are the ends of two pieces, and no line goes over.
class Refinement {
 public:
  /// `curve` by size, two points or more. Done when no interval is expected to err by more than
  /// `within`, or the curve has `most` points.
  Refinement(std::vector<Known> curve, double within, size_t most);

  /// The size that is to be measured next; nothing when it is done.
  std::optional<int64_t> next() const;
  /// What was measured at next().
  void add(const Known& point);
  const std::vector<Known>& curve() const { return curve_; }

 private:
  double left_out(size_t i) const;
  size_t worst_interval() const;

  std::vector<Known> curve_;
  std::vector<double> expected_;  // error between a point and the one behind it
  double within_;
  size_t most_;
};

/// A size from which on messages are sent in another way.
struct Switch {
  Known below, above;  ///< neighbours, kSizeStep bytes apart

  double ratio() const { return above.median / below.median; }
};

/// Finds the step between two sizes by halving: the half that is steeper has it, or the one that is
/// less steep, of a step down.
class SwitchSearch {
 public:
  SwitchSearch(Known below, Known above, bool up) : below_(below), above_(above), up_(up) {}

  std::optional<int64_t> next() const;
  void add(const Known& point);
  /// When next() has nothing: the switch, if there is more than noise explains.
  std::optional<Switch> found() const;

 private:
  Known below_, above_;
  bool up_;
  double slope_ = 0;  // of the half that had no step, when it was halved last
};

/// Measures a size; nothing if the time is over.
using MeasureSize = std::function<std::optional<Known>(int64_t bytes)>;

/// Looks for switches where a curve has steps, the largest first, and puts both ends of each into
/// it, until it has `most` points or no step that is worth a look.
std::vector<Switch> find_switches(std::vector<Known>& curve, size_t most,
                                  const MeasureSize& measure);

}  // namespace haichi::measure
