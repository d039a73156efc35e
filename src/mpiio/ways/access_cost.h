// What a collective access costs, about: each rank alone, or in two phases.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"

namespace haichi::mpiio {

/// What an access costs, in ns: each rank alone, or in two phases, cut as they cut it
/// (mpiio/twophase/cut.h).
double alone_ns(const placement::Placement& placement, Direction direction, const Demand& demand);
double two_phase_ns(const placement::Placement& placement, const TwoPhaseOptions& options,
                    Direction direction, const Demand& demand);

}  // namespace haichi::mpiio
