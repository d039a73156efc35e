// How long a run takes at least, from short visits to some of its points before it begins.
//
// Points of one measurement are alike in what making and freeing them costs, so one of each
// measurement is visited, at a size that chance has drawn; those that were not stand at the mean.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "measure/points.h"

namespace haichi::measure {

class Forecast {
 public:
  explicit Forecast(std::span<const Point> points);

  /// The first point of each measurement, in the order of the points.
  const std::vector<int>& candidates() const { return candidates_; }
  /// What a visit of the shortest kind to that candidate took, in seconds.
  void add(int candidate, double seconds);
  /// Seconds that one such visit to every point takes; 0 if nothing is known.
  double one_visit_each() const;

 private:
  struct Of {
    int points = 0;
    double seconds = -1;  // of a visit; negative: not visited
  };
  std::span<const Point> points_;
  std::vector<int> candidates_;
  std::map<const Measurement*, Of> by_measurement_;
};

/// What is said before a run of `points` begins.
struct Statement {
  double seconds = 0;   ///< that it will take in all
  double needed = 0;    ///< a budget that suffices; 0 if the one that there is does
  double one_each = 0;  ///< what one short visit to each point takes
};

/// `budget` seconds are allowed, of which `spent` are over, and each point should have `visits`.
Statement state(const Forecast& forecast, double budget, double spent, int visits);

}  // namespace haichi::measure
