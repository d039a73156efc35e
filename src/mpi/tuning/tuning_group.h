// What a group of ranks has tried of order and window of its two-phase exchanges.
//
// It belongs to the ranks, not to a file or a communicator: programs open a new file for each
// checkpoint, and libraries a new communicator for each file. All ranks of a file have the same
// group, and every access that counts goes through all of them.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "collectives/exchange_tuner.h"
#include "mpi/communicators/rank_set.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {

/// What the ranks of a group have tried together. Lives until forget_tuning().
class TuningGroup {
 public:
  TuningGroup(Runtime& runtime, RankSetPtr ranks, int rank, int64_t id);
  /// Keeps decisions and what is to be reported; does nothing but on the group's rank 0.
  void keep() const;

  /// Not 0; the same on all ranks, of no other group.
  const int64_t id;
  std::mutex mutex;  ///< held by an access from its announcement to its end
  collectives::ExchangeTuner tuner;
  bool parted = false;  ///< that the ranks' tuners differ was noted

 private:
  Runtime& runtime_;
  const RankSetPtr ranks_;
  const int rank_;
};

/// The group of these ranks in this order, or null if it has none yet. While
/// threads open several files of theirs at once, other ranks may have another one.
std::shared_ptr<TuningGroup> find_tuning(const RankSetPtr& ranks);
/// False if there are so many groups that a program seems to make ever new ones.
bool room_for_tuning();
/// A new group of the ranks, with what earlier runs decided; of several that threads make at once
/// the same one is left on all ranks. `id`: not 0, of no other group. Collective over `own`, the
/// ranks' communicator, in which this one has number `rank`. Null if there is no memory for it:
/// accesses are then not tuned.
std::shared_ptr<TuningGroup> begin_tuning(Runtime& runtime, const RankSetPtr& ranks, int rank,
                                          MPI_Comm own, int64_t id);
/// Before MPI_Finalize: keeps what the groups decided and have to report, and forgets them.
void forget_tuning();

}  // namespace haichi::mpi
