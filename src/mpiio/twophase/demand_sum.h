// What ranks whose accesses are known want of a file together: as the ranks of a job add it up
// (src/mpi/access/access_summary.h).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <vector>

#include "mpiio/twophase/two_phase_plan.h"

namespace haichi::mpiio {

/// Every rank can access the file itself.
Demand sum_of(const std::vector<Access>& accesses, Direction direction);

}  // namespace haichi::mpiio
