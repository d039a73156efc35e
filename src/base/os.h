// The operating system as haichi's file code sees it, so that tests can inject its failures.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

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
  /// Whether this process may make a file so large (RLIMIT_FSIZE). To write beyond it ends the
  /// program by SIGXFSZ, unless that says otherwise.
  virtual bool may_grow_to(int64_t size);
};

/// The real operating system.
Os& real_os();

/// Writes all of `data` at `offset`: goes on after EINTR and short writes, and splits what is
/// larger than the kernel takes at once. On failure part of it may have been written.
Status write_fully(Os& os, int fd, std::span<const std::byte> data, int64_t offset);

/// Reads until `data` is full or the file ends; returns the bytes read.
Result<int64_t> read_fully(Os& os, int fd, std::span<std::byte> data, int64_t offset);

/// Writes `text` as the file `path`. What is there or nothing there before is a regular file after,
/// replaced as a whole (by rename(2)) and never half-written. Into a FIFO, a terminal or another
/// character device, and through a symbolic link, the text is written as a shell's redirection
/// would do it. Never waits for long: a FIFO that nobody reads is an error (ENXIO), one whose
/// reader stops too (ETIMEDOUT). Links and FIFOs of users other than the caller and root are
/// refused (EPERM), and what takes no text (EINVAL), such as a disk.
Status write_file_atomically(const std::string& path, std::string_view text);

/// Largest file that read_file takes unless told otherwise.
inline constexpr int64_t kMostFileBytes = int64_t{1} << 30;

/// The whole of a file. Never waits: a FIFO, a folder or whatever else has no text of its own is
/// EINVAL; EFBIG for more than `most` bytes.
Result<std::string> read_file(const std::string& path, int64_t most = kMostFileBytes);
/// The same if `accept` takes the file as it was opened, else its error. `flags` are further ones
/// of open(2), such as O_NOFOLLOW.
Result<std::string> read_file(const std::string& path, int64_t most, int flags,
                              const std::function<Status(const struct stat&)>& accept);

/// A lock between processes, on a folder; given back when it goes. No file is made for it, so there
/// is none that somebody else can have put there.
class FolderLock {
 public:
  /// Waits `patience_ms` at most: ETIMEDOUT. Fails with ENOTSUP where the file system has no locks.
  static Result<FolderLock> take(const std::string& folder, int patience_ms);
  FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace haichi
