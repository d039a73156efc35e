// What this process reads and writes beside its MPI files, by the kernel's counters. One of each
// process, from MPI_Init to MPI_Finalize.
#pragma once

#include "mpiio/way.h"
#include "report/storage_record.h"

namespace haichi::mpi {

/// The count begins.
void begin_storage_record();
/// The program has accessed so many bytes of a file through MPI. Thread-safe.
void count_mpi_bytes(mpiio::Direction direction, int64_t bytes);
/// Nothing where the kernel does not tell, or begin_storage_record() was not called.
std::optional<report::StorageRecord> storage_record();

}  // namespace haichi::mpi
