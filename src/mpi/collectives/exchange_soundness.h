// Which exchanges of the program's haichi may look into.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/collectives/exchange_call.h"
#include "mpi/communicators/argument_checks.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

/// The call with what no library looks at made harmless; nothing where something is wrong, which is
/// for the MPI library to say: a count below 0, a datatype that is none or not committed, no memory
/// where there are bytes, MPI_IN_PLACE where it may not be. Local.
std::optional<ExchangeCall> sound(ExchangeCall call);

/// True if the library refuses that this rank's own block of an all-gather is sent from where it is
/// received, and it is.
bool own_block_refused(const ExchangeCall& call, int rank);

}  // namespace haichi::mpi
