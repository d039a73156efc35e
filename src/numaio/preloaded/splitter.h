// Whether this process's reads are split now, and what splits them: libhaichi-io.so, which lies
// beside this object.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>

namespace haichi::numaio::preloaded {

/// Reads of fewer bytes are never split. Before anything is known, what could be one for the least
/// io.split_from; later that, or nothing at all.
extern constinit std::atomic<size_t> least;

inline bool is_small(size_t size) { return size < least.load(std::memory_order_relaxed); }

/// Whether a read of so many bytes may be split: it is asked for, libhaichi-io could be loaded, and
/// neither a signal handler nor a child of vfork(2) asks.
bool may_split(size_t size);

/// Of `size` bytes from `offset` on those that the file has, if it is a regular one of a file
/// system whose files can be read by several threads, and these are enough; else 0.
size_t bytes_to_split(int fd, size_t size, off_t offset);

/// As pread(2). Only where may_split() said so, Undisturbed.
ssize_t split(int fd, void* data, size_t size, off_t offset);

/// Nothing is split any more in this process.
void give_up();

}  // namespace haichi::numaio::preloaded
