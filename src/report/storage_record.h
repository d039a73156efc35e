// What a rank's process had of storage, beside what it asked for through MPI.
#pragma once

#include <cstdint>
#include <optional>

namespace haichi::report {

/// Bytes since MPI_Init.
struct StorageRecord {
  int64_t read = 0, written = 0;          ///< by the process (base/process_io.h)
  int64_t mpi_read = 0, mpi_written = 0;  ///< in collective accesses of MPI files
};

}  // namespace haichi::report
