// Where a rank of an exchange waits for its messages ("Stalls of ranks that poll" in
// docs/notes.md).
#pragma once

#include <mpi.h>

namespace haichi::mpi {

enum class Waiting : unsigned char {
  polling,        ///< haichi tests and gives the processor away in between (Patience)
  in_the_library  ///< a blocking call, as the MPI library's own collectives make it
};

/// Open MPI yields in every test where it was told to (mpi_yield_when_idle, or more ranks than
/// cores). A rank that polls then yields at another rate than those that wait inside the library,
/// and a scheduler that charges each yield a time slice (Linux 6.18) lets it starve for up to a
/// minute.
inline constexpr Waiting kWaitingOfExchanges =
#if defined(OPEN_MPI)
    Waiting::in_the_library;
#else
    Waiting::polling;
#endif

}  // namespace haichi::mpi
