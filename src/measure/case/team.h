// The ranks that measure a point, as the harness talks among them: on a communicator of its own, so
// that none of its messages meets a call that is measured, whatever becomes of that one.
#pragma once

#include <mpi.h>

#include <string>

#include "measure/case/common_clock.h"
#include "measure/case/must.h"

namespace haichi::measure {

/// All calls but clock() and alone() are collective.
class Team {
 public:
  /// Of the ranks of `comm`.
  explicit Team(MPI_Comm comm);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool leads() const { return rank_ == 0; }
  CommonClock& clock() { return clock_; }

  /// All get here before one goes on.
  void meet() const { must(MPI_Barrier(comm_)); }
  /// True on every rank if it is on one; none goes on before all are here.
  bool any(bool mine) const;
  /// The least that any rank has.
  int least(int mine) const;
  /// The value of the first rank.
  template <class Value>
  Value from_first(Value value) const {
    must(MPI_Bcast(&value, sizeof value, MPI_BYTE, 0, comm_));
    return value;
  }
  /// On every rank the problem of the first that has one, with its number; empty if none has.
  std::string problem_of_any(const std::string& mine) const;

 private:
  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  CommonClock clock_;
};

}  // namespace haichi::measure
