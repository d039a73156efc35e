// A time for each of some sizes, as it was measured, with its interval.
//
// Why beside the lines of curve.h: between two sizes that were measured close to each other the
// line from one to the other tells more than one line for a whole protocol does.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace haichi::machine {

/// Which end of an interval.
enum class Bound : uint8_t { low, middle, high };

/// All lists have one length; sizes ascend. Empty if nothing was measured.
struct SizeCurve {
  std::vector<double> bytes, seconds;
  std::vector<double> low, high;  ///< as long, or empty if the file has no interval

  bool empty() const { return bytes.empty(); }
  bool has_interval() const { return !low.empty() && !high.empty(); }
  /// Between two sizes on the line from one to the other; below the first its time; beyond the last
  /// as the larger half of the sizes grows. Not to be asked of an empty one.
  double at(double size, Bound bound = Bound::middle) const;
};

/// A collective call of all ranks of a job, the slowest rank's time.
struct CollectiveCurve {
  std::string name;  ///< of the measurement: "allreduce", "reduce-scatter-block"
  int ranks = 0, nodes = 0;
  SizeCurve curve;
};

}  // namespace haichi::machine
