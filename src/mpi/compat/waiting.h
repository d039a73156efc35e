// Where a rank of an exchange waits for its messages ("Stalls of ranks that poll" in
// docs/notes.md).
#pragma once

#include <mpi.h>

namespace haichi::mpi {

enum class Waiting : unsigned char {
  polling,        ///< haichi tests and gives the processor away in between (Backoff)
  in_the_library  ///< a blocking call, as the MPI library's own collectives make it
};

/// Where Open MPI yields in every test (mpi_yield_when_idle, or more ranks than cores), a rank that
/// polls was seen runnable but hardly run, for up to a minute, beside ranks that wait inside the
/// library. Presumably the scheduler charges for yields, of which the two make unequal numbers.
inline constexpr Waiting kWaitingOfExchanges =
#if defined(OPEN_MPI)
    Waiting::in_the_library;
#else
    Waiting::polling;
#endif

}  // namespace haichi::mpi
