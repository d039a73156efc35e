// Which way collective accesses go, by trial, between an access and the tuner of its ranks.
//
// An access is timed on each rank from the agreement to its end, the MPI library's own ones too.
// The ranks tell one another with the next agreement what it took, so that they all know the
// slowest rank's time, and no message is needed for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collectives/way_tuner.h"
#include "mpi/job/runtime.h"
#include "mpiio/ways/way_cost.h"

namespace haichi::mpi {

/// Those of the ranks that open files together. Used by one access at a time, as MPI demands of
/// collective calls on files of the same ranks.
class WayTrials {
 public:
  explicit WayTrials(Runtime& runtime);

  /// No rank says what the last access took.
  static constexpr int64_t kNotKnown = INT64_MAX;
  /// What the last access took on this rank, in ns.
  int64_t last_ns() const { return last_ns_; }
  /// The ranks have agreed what it took on the slowest of them, or that one of them does not know.
  void agreed(int64_t slowest_ns);

  /// The way of the next access, the same on all ranks. `hints` stands for those in force;
  /// `costs()` is asked for once for accesses of a shape.
  mpiio::WayChoice choose(mpiio::Direction direction, const mpiio::Demand& demand, uint64_t hints,
                          const mpiio::WayChoice& model, const mpiio::CostsOfWays& costs);
  /// Why it is not the model's choice; empty if it is.
  std::string_view why() { return next_ ? tuner.why_next(next_->key) : std::string_view(); }
  /// False while calls of the shape that was chosen for last are trials or pay for one.
  bool settled() const { return !next_ || tuner.settled(next_->key); }
  /// The access begins. Without a key of choose() it is of no account.
  void begin(int64_t now_ns);
  /// This rank has carried it out.
  void end(int64_t now_ns);
  /// Of the access that was begun last.
  int64_t number() const { return number_; }
  int64_t since_begin_ns(int64_t now_ns) const { return last_ ? now_ns - last_->begin_ns : 0; }
  /// A split access has ended, in which this rank spent so long in its two calls. Of no account if
  /// another one was begun meanwhile.
  void end_split(int64_t number, int64_t spent_ns);

  /// What this run decided and has to report; on one rank of the group.
  void keep(const placement::Placement& placement) const;

  collectives::WayTuner tuner;

 private:
  Runtime& runtime_;
  struct Access {
    collectives::WayKey key;
    int64_t bytes = 0;
    int64_t begin_ns = 0;
  };
  std::optional<Access> next_;  // that choose() was called for
  std::optional<Access> last_;  // that was begun, until the ranks agree what it took
  int64_t number_ = 0;
  int64_t last_ns_ = kNotKnown;
};

}  // namespace haichi::mpi
