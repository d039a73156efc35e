// What a communicator's nonblocking collectives need of the other ranks, and what was done.
#pragma once

#include <mpi.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectives/nonblocking_choice.h"
#include "mpi/collectives/comm_state.h"
#include "mpi/collectives/neighbourhood.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/requests/message_tags.h"
#include "placement/placement.h"
#include "report/records.h"

namespace haichi::mpi {

/// One communicator's. Shared with the operations that go on: the communicator may be freed before.
class CommPeers {
 public:
  /// Calls of one key: they all take the same algorithm.
  struct Calls {
    const CollectiveKey* key = nullptr;
    collectives::NonblockingChoice choice;
    int64_t count = 0;
    std::atomic<int64_t> ns = 0;  ///< that this rank was in calls that begin or complete them
    report::CollectiveInLog in_log = {};
  };

  CommPeers(RankSetPtr ranks, int rank, MessageTag own, std::vector<int> tags,
            std::optional<Neighbourhood> neighbourhood);
  CommPeers(const CommPeers&) = delete;
  CommPeers& operator=(const CommPeers&) = delete;

  /// The calls of a key, with the choice for them if it is new.
  Calls& calls(const CollectiveKey& key);
  /// One more has begun.
  void count(Calls& calls);
  /// What is to be said of this communicator in the report; empty except on its rank 0.
  std::vector<report::CollectiveRecord> records() const;
  /// The communicator goes.
  void log_last();

  const RankSetPtr ranks;
  const placement::Placement& placement;  ///< the ranks'
  const int rank;                         ///< this one's
  const std::vector<int>& world_rank;     ///< of each rank: its rank on message_comm()
  const std::vector<int> tags;            ///< under which each rank receives
  /// Set where the communicator has a topology, on all ranks or on none.
  const std::optional<Neighbourhood> neighbourhood;

 private:
  report::CollectiveRecord record_of(const Calls& calls) const;
  void log(Calls& calls);

  // All messages under it have been received: operations that go on have a share in this object.
  const MessageTag own_tag_;
  std::map<CollectiveKey, Calls> calls_;
};

}  // namespace haichi::mpi
