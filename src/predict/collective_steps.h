// Collective calls as schedules, by algorithms that MPI libraries use.
//
// Why: how long a collective call takes when all ranks come at once can be measured; what it does
// to ranks that come at different times, and to the call after it, depends on who waits for whom.
// That is what these schedules are for; where the call was measured, their messages take as much
// longer or shorter as makes the whole right (engine.h).
//
// Barrier: dissemination. Bcast, reduce, gather, scatter: binomial trees. Allreduce: recursive
// doubling up to 2 KiB, beyond that recursive halving and doubling (Rabenseifner). Scan: recursive
// doubling. Reduce-scatter: pairwise. All-to-all and all-gather: of src/collectives/.
//
// PURE.
#pragma once

#include <memory>

#include "collectives/algorithm.h"
#include "placement/placement.h"
#include "plan/schedule.h"
#include "predict/calls.h"

namespace haichi::predict {

/// One rank's part of a call; ranks are those of the communicator.
struct CollectiveCall {
  Collective collective = Collective::barrier;
  int me = 0;
  int root = 0;
  /// Of the buffer; of an all-to-all, (all)gather, scatter for each single rank.
  int64_t bytes = 0;
  /// By which an all-to-all or all-gather chooses its algorithm: ranks may give different bytes,
  /// and must all choose the same.
  int64_t chosen_by = 0;
  /// By which an all-to-all or all-gather goes if it can; null: as a library chooses.
  const collectives::Candidate* wanted = nullptr;
};

/// Whether the call goes by the algorithm that is wanted.
bool goes_as_wanted(const CollectiveCall& call);

/// The placement is that of the communicator's ranks, and must outlive the schedule.
std::unique_ptr<plan::Schedule> schedule_of(const CollectiveCall& call,
                                            const placement::Placement& placement);

}  // namespace haichi::predict
