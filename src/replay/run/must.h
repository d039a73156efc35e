// Failures of MPI calls as exceptions, since the player's calls stand deep in it; main() makes a
// line of text of one and ends the job.
#pragma once

#include <mpi.h>

#include <stdexcept>

namespace haichi::replay {

struct CallFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] void throw_call_failed(int code);

/// Around every call of MPI; costs a comparison.
inline void must(int code) {
  if (code != MPI_SUCCESS) throw_call_failed(code);
}

}  // namespace haichi::replay
