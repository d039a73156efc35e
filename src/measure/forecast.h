// How long a run takes at least, from short visits to some of its points before it begins.
//
// What visits take differs by three orders of magnitude: making a window or a file is most of some,
// and 256 KiB from all to all of others. A mean of a few is off by a factor, so points that are
// alike are counted together (strata, by group and size), and those strata are looked at most that
// the sum is least sure of (Neyman's allocation, 1934). The first look at a stratum is not in its
// mean: a library loads and connects what it has for it then, once.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "measure/points.h"

namespace haichi::measure {

/// Seconds, and their standard error.
struct Expected {
  double seconds = 0;
  double error = 0;
};

class Forecast {
 public:
  explicit Forecast(std::span<const Point> points);

  /// The point that tells most; none if all have been looked at. Each is followed by add().
  std::optional<int> next() const;
  /// What a visit of the shortest kind to the point took, in seconds.
  void add(int point, double seconds);
  bool looked_at(int point) const { return looked_at_[size_t(point)] != 0; }
  int looks() const { return looks_; }
  /// Whether each stratum has been looked at so often that it has a mean.
  bool knows_all() const;

  /// One such visit to each point, and to each that has not been looked at.
  Expected one_visit_each() const;
  Expected rest() const;

 private:
  struct Stratum {
    std::vector<int> points;  // in the order of the run, which chance has drawn
    int looks = 0;
    double first = 0, sum = 0, squares = 0;  // sum and squares without the first
    int left() const { return int(points.size()) - looks; }
    int counted() const { return looks - 1; }
    double mean() const;
    double variance() const;
  };
  double mean_of_all() const;
  Expected of_points(bool all) const;

  std::vector<char> looked_at_;
  std::vector<Stratum> strata_;
  std::vector<int> stratum_of_;  // by point
  int looks_ = 0;
};

/// What is said before a run begins.
struct Statement {
  double seconds = 0;   ///< that it will take in all
  double needed = 0;    ///< a budget that suffices; 0 if the one that there is does
  double one_each = 0;  ///< what one short visit to each point takes
};

/// `budget` seconds are allowed, of which `spent` are over, and each point should have `visits`.
Statement state(const Forecast& forecast, double budget, double spent, int visits);

/// Whether more looks would change nothing of the statement, or cost more than they tell.
bool knows_enough(const Forecast& forecast, double budget, double spent, int visits);

}  // namespace haichi::measure
