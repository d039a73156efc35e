// What messages and file accesses cost on this machine, from a file that the user names (the
// setting "machine").
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "machine/machine.h"

namespace haichi::mpi {

/// The machine that the file tells of, on all ranks alike; nothing if `path` is empty. Fails with
/// the reason if rank 0 cannot use the file. Collective over `comm` unless `path` is empty.
Result<std::optional<machine::Machine>> read_machine(MPI_Comm comm, int rank,
                                                     const std::string& path);

}  // namespace haichi::mpi
