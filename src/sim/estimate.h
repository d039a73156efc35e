// What a simulation will take of the machine that it runs on, told before it begins.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/placement.h"
#include "plan/schedule.h"
#include "sim/time.h"

namespace haichi::sim {

struct Estimate {
  int64_t messages = 0;
  int64_t bytes = 0;   ///< of memory, at most at a time
  double seconds = 0;  ///< on one core
};

/// Looks through the schedules of some of the ranks, which are used up by that, and takes the
/// others to be like them. They must not access a file: then one depends on others. The rates are
/// those of the table in docs/guide/simulation.md, "The cost".
Estimate estimate(const placement::Placement& placement, const Machine& machine,
                  const std::vector<plan::Schedule*>& some);

}  // namespace haichi::sim
