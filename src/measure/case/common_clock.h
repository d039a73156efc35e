// The clock of a communicator's first rank, as every rank of it can tell it.
//
// Ranks on one host read the same clock. Others ask each other in a binomial tree, the first rank
// at its root, so that a job of P ranks takes log2 P rounds; the errors of the way add up.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "measure/clock_model.h"

namespace haichi::measure {

class CommonClock {
 public:
  /// Nothing is known before the first look().
  explicit CommonClock(MPI_Comm comm);

  /// Collective: asks anew, if the last time is so long ago that clocks may have drifted.
  void look();
  /// What this rank's clock shows when that of the first shows `first`, nanoseconds.
  int64_t own_at(int64_t first) const { return to_first_.own_at(first); }
  /// How wrong that may be on any rank, seconds; 0 where all read one clock.
  double error() const { return error_; }

 private:
  void ask(int parent);
  void answer(int child);

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 0;
  uint64_t kernel_;
  ClockModel to_first_;
  ClockOffset last_;  // to the clock of the first rank
  double error_ = 0;
  int64_t looked_ns_ = 0;
};

}  // namespace haichi::measure
