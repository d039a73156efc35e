// File domains that lie where their bytes are: fewer bytes cross the network than with even
// domains.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"

namespace haichi::mpiio {

/// False where domains_by_bytes gives nothing anyway: then no rank needs to know the others'
/// accesses.
bool may_go_by_bytes(const placement::Placement& placement, const TwoPhaseOptions& options);

struct LocalDomains {
  std::optional<plan::FileDomains> domains;  ///< nothing: the plan's own are as good
  std::string why;
  int64_t min_internode_bytes =
      0;  ///< bytes that cross the network with any domains, about: unit by unit
  /// With the domains that are used, about: bytes on the busiest link, and of the aggregator that
  /// handles most.
  int64_t busiest_link = 0, busiest_aggregator = 0;
};

/// Domains by plan::place_by_cost for the plan's aggregators, in windows of plan.cb_slot_bytes;
/// none if that saves the busiest link less than a tenth of what `plan.domains` make it carry,
/// would take windows too small to be worth their cycles, or is known to take longer. Nothing at
/// all for an empty range. `parts`: those that occupied_parts() has found, whose holes no window
/// has; empty if it has not. The same on all ranks for the same demands. Call it if
/// may_go_by_bytes().
std::optional<LocalDomains> domains_by_bytes(const placement::Placement& placement,
                                             const TwoPhaseOptions& options,
                                             const TwoPhasePlan& plan, const plan::Extent& range,
                                             const std::vector<RankDemand>& demands,
                                             const std::vector<plan::Extent>& parts = {});

}  // namespace haichi::mpiio
