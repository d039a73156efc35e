// What the ways of a collective access cost, about: which of them are worth a trial, and when.
//
// Only ratios are of use, and they may be wrong by much: a trial is bounded by what the accesses so
// far pay for, and what was measured counts from then on.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <functional>
#include <vector>

#include "mpiio/ways/way.h"

namespace haichi::mpiio {

struct WayCost {
  Way way = Way::library;
  double seconds = 0;
};

/// way_costs() of an access, where it is asked for.
using CostsOfWays = std::function<std::vector<WayCost>()>;

/// The ways that may be taken in place of the model's choice, which is the first.
std::vector<WayCost> way_costs(const placement::Placement& placement,
                               const TwoPhaseOptions& options, Direction direction,
                               const Demand& demand, const LibraryFileIo& library,
                               const WayChoice& choice, bool may_be_library);

/// Whether measured times may correct the choice: not where there is nothing to do, where the user
/// asked for it, or where agreeing about it costs as much as the access.
bool may_be_corrected(const WayChoice& choice, const CostsOfWays& costs);

}  // namespace haichi::mpiio
