// What is done with a preloaded program's large reads: they are split over threads by libhaichi-io,
// which is loaded at the first one. Everything else, and every read that can't be split with the
// plain call's results, is left alone (docs/guide/numaio.md, "Under a program").
//
// Each on_NAME gives what the program shall see, or nothing where the real function is to be
// called. A small read costs a look at its size.
#pragma once

#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cstddef>
#include <optional>

#include "base/anew.h"
#include "numaio/preloaded/handlers.h"
#include "numaio/preloaded/splitter.h"

namespace haichi::numaio::preloaded {

/// Both at the position where there is no offset.
std::optional<ssize_t> read_whole(int fd, void* data, size_t size, std::optional<off_t> offset);
std::optional<ssize_t> read_parts(int fd, const iovec* parts, int count,
                                  std::optional<off_t> offset);
std::optional<size_t> read_stream(void* data, size_t size, size_t count, FILE* stream);

inline std::optional<ssize_t> on_read(int fd, void* data, size_t size) {
  if (is_small(size)) return {};
  return anew(read_whole(fd, data, size, {}));
}

inline std::optional<ssize_t> on_pread(int fd, void* data, size_t size, off_t offset) {
  if (is_small(size)) return {};
  return anew(read_whole(fd, data, size, offset));
}

/// The largest part decides: to look at all of some thousand small ones would cost too much.
inline bool has_large(const iovec* parts, int count) {
  constexpr int kLooks = 8;
  for (int i = 0; i < count && i < kLooks; ++i)
    if (!is_small(parts[i].iov_len)) return true;
  return false;
}

inline std::optional<ssize_t> on_readv(int fd, const iovec* parts, int count) {
  if (!has_large(parts, count)) return {};
  return read_parts(fd, parts, count, {});
}

inline std::optional<ssize_t> on_preadv(int fd, const iovec* parts, int count, off_t offset) {
  if (!has_large(parts, count)) return {};
  return read_parts(fd, parts, count, offset);
}

inline std::optional<ssize_t> on_preadv2(int fd, const iovec* parts, int count, off_t offset,
                                         int flags) {
  if (flags != 0) return {};
  return offset == -1 ? on_readv(fd, parts, count) : on_preadv(fd, parts, count, offset);
}

inline std::optional<size_t> on_fread(void* data, size_t size, size_t count, FILE* stream) {
  size_t bytes;
  if (__builtin_mul_overflow(size, count, &bytes) || is_small(bytes)) return {};
  return read_stream(data, size, count, stream);
}

inline std::optional<int> on_sigaction(int number, const struct sigaction* action,
                                       struct sigaction*) {
  if (!action || !is_handler(action->sa_handler)) return {};
  if (action->sa_flags & SA_NODEFER)
    note_unblocked_handler(number, (action->sa_flags & int(SA_RESETHAND)) != 0);
  else
    note_handler(number);
  return {};
}

inline std::optional<sighandler_t> on_signal(int number, sighandler_t handler) {
  if (is_handler(handler)) note_handler(number);
  return {};
}

/// System V's signal(3) does not block the signal while its handler runs.
inline std::optional<sighandler_t> on_sysv_signal(int number, sighandler_t handler) {
  if (is_handler(handler)) note_unblocked_handler(number, true);
  return {};
}

/// This thread's descriptors are no longer those of the threads that would read.
std::optional<int> on_unshare(int flags);

/// From a filter of system calls on nothing is split: it may forbid, or kill for, what a split read
/// calls and the program's own does not. One that is given no program is none yet.
inline std::optional<int> on_prctl(int option, unsigned long mode, unsigned long program,
                                   unsigned long, unsigned long) {
  const bool filters = mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && program != 0);
  if (option == PR_SET_SECCOMP && filters) end_splitting();
  return {};
}

inline std::optional<long> on_syscall(long number, long first, long second, long third, long, long,
                                      long) {
  if (number == SYS_prctl)
    on_prctl(int(first), static_cast<unsigned long>(second), static_cast<unsigned long>(third), 0,
             0);
  if (number == SYS_seccomp &&
      (first == SECCOMP_SET_MODE_STRICT || (first == SECCOMP_SET_MODE_FILTER && third != 0)))
    end_splitting();
  return {};
}

}  // namespace haichi::numaio::preloaded
