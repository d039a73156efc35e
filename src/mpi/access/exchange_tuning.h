// Order and window of two-phase exchanges by trial, under the program's collective accesses:
// between an access and what its ranks have tried (tuning_group.h).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "collectives/exchange_tuner.h"
#include "mpi/access/agreement.h"
#include "mpi/files/file_state.h"
#include "mpiio/twophase/two_phase.h"

namespace haichi::mpi {

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
