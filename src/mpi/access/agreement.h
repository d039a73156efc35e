// What the ranks of a file tell each other before a collective access in two phases, when they know
// its sums (access_summary.h).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "mpi/files/file_state.h"
#include "mpi/requests/executor.h"
#include "mpiio/agreement/announcement.h"
#include "mpiio/agreement/node_agreement.h"
#include "mpiio/regions/access.h"
#include "mpiio/regions/access_list.h"
#include "mpiio/twophase/two_phase.h"

namespace haichi::mpi {

using mpiio::Announcement;

/// What the ranks announced as their trials (TunedAccess::announced()).
struct Tunings {
  uint64_t least, most;
};

/// What the ranks agreed on. The scalars are the same on all of them.
struct Agreement {
  int64_t window = 0;  ///< largest collective buffer that all can do with; 0: one of them needs the
                       ///< call to be passed through
  int64_t file_size = -1;
  Tunings tunings = {};
  /// Of all ranks; empty where they agreed node by node.
  std::vector<Announcement> all;
  std::unique_ptr<mpiio::NodeAgreement> by_nodes;
};

/// Of what must be equal on all ranks for a plan to be the same on all.
uint64_t fingerprint(const mpiio::TwoPhaseOptions& options);

Announcement announce(FileState& state, mpiio::Direction direction, const mpiio::Access& access,
                      int64_t window);

/// Collective. Up to some hundred ranks (Runtime::works_by_nodes) one allgather of the file's
/// ranks, else messages within nodes and among their speakers. `own` must outlive the result.
Result<Agreement> agree(FileState& state, const Announcement& own);

/// The accesses that fitted into the announcements, clipped at file offset `end`; others are empty.
Result<std::vector<mpiio::Access>> announced_accesses(const std::vector<Announcement>& all,
                                                      int64_t end);

/// The accesses that this rank, if it is an aggregator, needs: of the ranks that touch this rank's
/// file domain. Nothing on other ranks. Sends and receives the descriptions that did not fit into
/// the announcements. Collective. `announced`: of all ranks, as far as they fitted; not looked at
/// where the ranks agreed node by node.
Result<mpiio::AccessList> collect_accesses(FileState& state, const mpiio::TwoPhasePlan& plan,
                                           const Agreement& agreed, const Announcement& announced,
                                           const std::vector<mpiio::Access>& all,
                                           const mpiio::Access& own);

}  // namespace haichi::mpi
