// What a simulated run comes to: the ranks' own times, from each one's start to its end.
//
// PURE.
#pragma once

#include "sim/simulator.h"

namespace haichi::sim {

/// Seconds.
struct Summary {
  double mean = 0, median = 0, best = 0, worst = 0;
  int worst_rank = 0;  ///< the lowest, if several are equal
};

/// Seconds of each rank.
std::vector<double> rank_seconds(const Outcome& outcome);

/// Precondition: at least one rank.
Summary summarize(const Outcome& outcome);

}  // namespace haichi::sim
