// Reads and writes of files by several threads, with the results and the errors of one system call.
#pragma once

#include <cstdint>
#include <span>

#include "base/os.h"
#include "base/result.h"
#include "numaio/residency.h"

namespace haichi::numaio {

/// As pread(2) of everything up to the end of the file: the bytes read, or a negative errno value
/// if there was none before the failure. Split where that is worth it.
int64_t parallel_pread(CacheOs& os, int fd, void* buffer, int64_t size, int64_t offset);

/// The same by one of `turns` processes that read the same bytes (io.h).
int64_t pread_turn(Os& os, int fd, void* buffer, int64_t size, int64_t offset, int turn, int turns);

/// Writes everything by the calling thread: bytes written, or a negative errno value if there was
/// none before the failure.
int64_t plain_pwrite(Os& os, int fd, const void* buffer, int64_t size, int64_t offset);

struct Part {
  int fd;
  const void* buffer;
  int64_t size, offset;
};

/// Writes parts of several files at the same time; parts of one file in their order. 0, or the
/// negative errno value of the first part in the list that failed (-ENOSPC for one that the kernel
/// took nothing of).
int write_parts(Os& os, std::span<const Part> parts);

/// Copies memory past the caches, by several threads where that is worth it.
void parallel_copy(void* to, const void* from, int64_t bytes);

}  // namespace haichi::numaio
