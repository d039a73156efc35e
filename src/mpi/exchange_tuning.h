// Order and window of two-phase exchanges by trial, under the program's collective accesses:
// between an access, the tuner of its ranks, and the decisions of earlier runs.
//
// A tuner belongs to a group of ranks, not to a file or a communicator: programs open a new file
// for each checkpoint, and libraries a new communicator for each file. All ranks of a file have the
// tuner of the same group, and every access that counts goes through all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/exchange_tuner.h"
#include "mpi/agreement.h"
#include "mpi/file_group.h"
#include "mpi/file_state.h"
#include "mpiio/two_phase.h"

namespace haichi::mpi {

/// What the ranks of a group have tried together. Lives until forget_tuning().
class TuningGroup {
 public:
  TuningGroup(const FileGroup& group, int64_t id);
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
/// the same one is left on all ranks. `id`: not 0, of no other group. Collective over the group's
/// communicator. Null if there is no memory for it: accesses are then not tuned.
std::shared_ptr<TuningGroup> begin_tuning(const FileGroup& group, int64_t id);
/// Before MPI_Finalize: keeps what the groups decided and have to report, and forgets them.
void forget_tuning();

/// A collective access that may be a trial. Nothing happens where the file is not tuned.
class TunedAccess {
 public:
  /// Before the ranks meet. While another access of the group is under way (of another file, by
  /// another thread) this one is no trial: the ranks may see the two in different orders.
  explicit TunedAccess(FileState& state);
  /// 0: no trial for this rank. Else the same on all ranks that would choose alike.
  uint64_t announced() const { return announced_; }
  /// Gives the plan the pair whose turn it is, if all ranks announced the same. `bytes`: of all
  /// ranks.
  void choose(mpiio::TwoPhasePlan& plan, const Tunings& all, int64_t bytes);
  /// The access went well on all ranks, and the slowest needed so long: the same on all ranks.
  void took(int64_t ns);

 private:
  FileState& state_;
  std::unique_lock<std::mutex> turn_;
  uint64_t announced_ = 0;
  std::optional<collectives::ExchangeKey> key_;  // if this access is a trial
  int64_t bytes_ = 0;                            // of a rank, in the mean
};

}  // namespace haichi::mpi
