// What there is to measure: each chosen measurement, for each placement class and size.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/classes.h"
#include "measure/selection.h"

namespace haichi::measure {

/// Whether the memory that calls use is in the caches, or has been taken out of them.
enum class Buffers { hot, cold };

/// Whether samples follow each other: as the measurement has it, never, or always.
enum class Spacing { own, isolated, back_to_back };

const char* text_of(Buffers buffers);

/// What tells a point from all others of its job, also in a file.
std::string point_key(std::string_view measurement, std::string_view place, int64_t bytes,
                      std::string_view buffers, bool back_to_back);

/// How a point that is not measured as usual is, in words behind its place.
std::string variant_of(bool cold, bool back_to_back);

/// One point of a curve.
struct Point {
  const Measurement* measurement;
  std::string place;       ///< the placement class of a pair, or "all"
  std::vector<int> ranks;  ///< of the pair; empty for all
  int64_t bytes;           ///< 0 where the measurement has no size
  Buffers buffers = Buffers::hot;
  Start start = Start::barrier;

  std::string key() const {
    return point_key(measurement->name, place, bytes, text_of(buffers),
                     start == Start::back_to_back);
  }
  /// Whether it is measured as its measurement is without options.
  bool usual() const;
  /// How it is not usual, in words behind the place; "" if it is.
  std::string variant() const;
};

/// A measurement that this job cannot make, and why in one line.
struct Left {
  Chosen chosen;
  std::string reason;
};

struct Plan {
  std::vector<Point> points;
  std::vector<Left> left;
};

/// The job as the points need it.
struct JobShape {
  int ranks;
  std::vector<Pair> pairs;
};

/// In which ways each measurement is made.
struct Variants {
  Start together = Start::barrier;  ///< how samples begin that do not follow each other
  std::vector<Buffers> buffers{Buffers::hot};
  std::vector<Spacing> spacings{Spacing::own};
};

/// `sizes` are the user's, in place of those of each measurement; empty for these.
Plan plan_points(std::span<const Chosen> chosen, const JobShape& job,
                 std::span<const int64_t> sizes, const Variants& variants = {});

/// The same points in an order that depends on `seed` alone, so that what a machine does slowly
/// (heat, other jobs) becomes noise and not a curve.
void shuffle(std::vector<Point>& points, uint64_t seed);

}  // namespace haichi::measure
