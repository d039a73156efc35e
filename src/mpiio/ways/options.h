// What settings and hints ask for of collective access in two phases: the one place where words and
// numbers of users become options, and where the defaults that depend on the placement are.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include "base/settings.h"
#include "mpiio/storage/window_file.h"
#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"

namespace haichi::mpiio {

/// The options of a file of the ranks of `placement`. What no setting tells is left to the caller:
/// the machine, and whether the MPI library lets ranks wait for memory.
TwoPhaseOptions options_of(const Settings& settings, const placement::Placement& placement);

/// How windows with holes are written (io.holes).
Holes holes_of(const Settings& settings);

}  // namespace haichi::mpiio
