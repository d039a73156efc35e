#include "mpi/storage_record.h"

#include <atomic>

#include "base/process_io.h"

namespace haichi::mpi {
namespace {

// Written in MPI_Init alone.
constinit std::optional<ProcessIo> g_before = std::nullopt;
constinit std::atomic<int64_t> g_mpi_bytes[2] = {};  // by direction

}  // namespace

void begin_storage_record() { g_before = process_io(); }

void count_mpi_bytes(mpiio::Direction direction, int64_t bytes) {
  g_mpi_bytes[int(direction)].fetch_add(bytes, std::memory_order_relaxed);
}

std::optional<report::StorageRecord> storage_record() {
  if (!g_before) return std::nullopt;
  const auto now = process_io();
  if (!now) return std::nullopt;
  const auto of_mpi = [](mpiio::Direction direction) {
    return g_mpi_bytes[int(direction)].load(std::memory_order_relaxed);
  };
  return report::StorageRecord{.read = now->read_bytes - g_before->read_bytes,
                               .written = now->written_bytes - g_before->written_bytes,
                               .mpi_read = of_mpi(mpiio::Direction::read),
                               .mpi_written = of_mpi(mpiio::Direction::write)};
}

}  // namespace haichi::mpi
