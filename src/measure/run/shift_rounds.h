// The rounds of a check of health, as MPI messages between its members.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

namespace haichi::measure {

class ShiftRounds {
 public:
  /// On the members, whose ranks in `comm` are their numbers. `comm` stays the caller's.
  explicit ShiftRounds(MPI_Comm comm);

  /// Collective: all receive from the member `distance` before them at once; where that is also the
  /// one that they send to, half of them and then the others. Seconds of what this one received,
  /// from its asking for the bytes to their end: `repeats` times.
  std::vector<double> times(int distance, int64_t bytes, int repeats);

 private:
  double once(int from, int to, int bytes);

  MPI_Comm comm_;
  int member_ = 0, members_ = 0;
  std::vector<char> out_, in_;
};

}  // namespace haichi::measure
