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

/// There while a read is, or may come to be, split: whoever ends splitting waits for that.
class Splitting {
 public:
  Splitting();
  ~Splitting();
  Splitting(const Splitting&) = delete;
  Splitting& operator=(const Splitting&) = delete;
  /// Whether splitting has not ended.
  bool allowed() const { return allowed_; }

 private:
  bool allowed_;
};

/// Whether a read of so many bytes may be split: it is asked for, libhaichi-io could be loaded, and
/// neither a signal handler nor a child of vfork(2) asks. No filter of system calls may be in
/// force, but where io.split is "always". Only while a Splitting is there.
bool may_split(size_t size);

/// Of `size` bytes from `offset` on those that the file has, if it is a regular one of a file
/// system whose files can be read by several threads, and these are enough; else 0.
size_t bytes_to_split(int fd, size_t size, off_t offset);

/// As pread(2). Only where may_split() said so, Undisturbed.
ssize_t split(int fd, void* data, size_t size, off_t offset);

/// Nothing is split any more in this process.
void give_up();
/// The same, and when it returns no thread of haichi's is left that could make a system call.
void end_splitting();

}  // namespace haichi::numaio::preloaded
