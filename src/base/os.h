// The operating system as haichi's file code sees it, so that tests can inject its failures.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace haichi {

/// System calls with the kernel's own semantics: -1 and errno become a negative errno value, short
/// reads and writes are returned as they are. Thread-safe.
class Os {
 public:
  virtual ~Os() = default;
  virtual int open(const char* path, int flags, mode_t mode);
  virtual int close(int fd);
  virtual int64_t pread(int fd, void* data, size_t size, int64_t offset);
  virtual int64_t pwrite(int fd, const void* data, size_t size, int64_t offset);
  virtual int fstat(int fd, struct stat* out);
  /// Open file description lock (fcntl(2), F_OFD_SETLK): unlike a process's lock it survives that
  /// the MPI library closes another descriptor of the same file. On [offset, offset + size); type
  /// is F_RDLCK, F_WRLCK, F_UNLCK. Does not wait: -EAGAIN or -EACCES if somebody else has it.
  virtual int lock(int fd, short type, int64_t offset, int64_t size);
  /// 1 if another open file description, or a process, has a lock on a byte of [offset, offset +
  /// size), else 0 (F_OFD_GETLK).
  virtual int locked_by_others(int fd, int64_t offset, int64_t size);
};

/// The real operating system.
Os& real_os();

/// Writes all of `data` at `offset`: goes on after EINTR and short writes, and splits what is
/// larger than the kernel takes at once. On failure part of it may have been written.
Status write_fully(Os& os, int fd, std::span<const std::byte> data, int64_t offset);

/// Reads until `data` is full or the file ends; returns the bytes read.
Result<int64_t> read_fully(Os& os, int fd, std::span<std::byte> data, int64_t offset);

/// Writes `text` to `path` through a temporary file beside it, so that `path` is never
/// half-written.
Status write_file_atomically(const std::string& path, std::string_view text);

/// The whole of a small file.
Result<std::string> read_file(const std::string& path);

}  // namespace haichi
