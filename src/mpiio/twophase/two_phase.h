// What all ranks decide alike before a collective access in two phases: aggregators, file domains,
// windows, order of messages (paper 000, sections 2 and 3).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"
#include "plan/aggregators.h"
#include "plan/file_domains.h"
#include "plan/issue_order.h"

namespace haichi::mpiio {

/// The whole of the collective buffer that an aggregator needs for it.
int64_t buffer_needed(const placement::Placement& placement, const TwoPhaseOptions& options,
                      const plan::Extent& range);

/// How small a hole in an access of `range` may be that no window has.
int64_t hole_of(const placement::Placement& placement, const TwoPhaseOptions& options,
                Direction direction, const plan::Extent& range);

/// True if so little of the range is accessed in so many cycles that it pays to tell where the
/// bytes are: two collective calls for cycles with nothing in them.
bool worth_telling(const placement::Placement& placement, const TwoPhaseOptions& options,
                   const Demand& together);

/// True if all ranks are aggregators unless something else is asked for: they are on one node.
bool may_be_direct(const placement::Placement& placement, const TwoPhaseOptions& options);

/// The aggregators under the options: as many as wanted, else as many as storage and network can
/// keep busy if that is known (plan/aggregator_number.h), else one per node, else, on a single
/// node, all ranks, since no network lies between them.
plan::Aggregators aggregators_for(const placement::Placement& placement,
                                  const TwoPhaseOptions& options);

/// How many these are.
int aggregators_of(const placement::Placement& placement, const TwoPhaseOptions& options);

/// `demands[r]` is that of rank r.
TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const std::vector<RankDemand>& demands);

/// The same of what the ranks want together, where no rank knows what each of the others wants:
/// file domains are even, and what depends on messages counts the ranks as alike. Memory and time
/// in proportion to nodes and aggregators.
TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const Demand& together);

/// Gives a plan that is not direct another order and window than those of the options; `because`
/// is said with them.
void override_issue_order(TwoPhasePlan& plan, plan::IssueOrder order, int window,
                          std::string_view because);

}  // namespace haichi::mpiio
