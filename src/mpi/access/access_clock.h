// What the program's collective file accesses take, whoever carries them out, for the report.
#pragma once

#include <cstdint>

#include "mpi/access/access_request.h"

namespace haichi::mpi {

/// Counts one call of the program for as long as it lives, if a report is wanted. The record of a
/// call that haichi left to the MPI library gets the time of the whole call; where haichi only
/// observes, it is made here.
class AccessClock {
 public:
  AccessClock(FileState& state, const CollectiveCall& call);
  /// The end of a split access: time alone.
  explicit AccessClock(FileState& state);
  ~AccessClock();
  AccessClock(const AccessClock&) = delete;
  AccessClock& operator=(const AccessClock&) = delete;

 private:
  void complete_record(int64_t elapsed_ns);

  FileState& state_;
  const CollectiveCall* const call_ = nullptr;
  const int64_t begin_ns_;
  int64_t first_record_ = 0;  ///< number of a record that this call makes, if any
};

}  // namespace haichi::mpi
