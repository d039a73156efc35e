#include "gasfs/client/hooks.h"

#include <errno.h>
#include <limits.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/copy_piece.h"
#include "gasfs/client/process.h"
#include "generated/libc_real.h"

namespace haichi::gasfs::client {
namespace {

// A file that is written to less often is not worth asking for.
constexpr uint8_t kWritesBefore = 4;

/// Whether a write of so many bytes may go into the ring. Counts writes to a file that has not been
/// asked for yet.
bool takes(OpenFile& file, int fd, size_t size) {
  if (size == 0 || size > arena::kLargestWrite) return false;
  if (file.state.load(std::memory_order_acquire) == OpenFile::refused) return false;
  const auto writes = file.writes.load(std::memory_order_acquire);
  if (writes == OpenFile::granted) return !is_through_kernel(file);
  if (writes == OpenFile::denied) return false;
  if (file.small_writes.fetch_add(1, std::memory_order_relaxed) < kWritesBefore) return false;
  return attach_to_write(file, fd) && !is_through_kernel(file);
}

bool is_beyond_files(off_t offset, size_t size) {
  return offset < 0 || uint64_t(offset) + size > uint64_t(INT64_MAX);
}

/// Puts a write into this thread's ring; `fill` copies its bytes.
template <class Fill>
bool put(const OpenFile& file, int fd, off_t offset, size_t size, Fill&& fill) {
  if (is_beyond_files(offset, size)) return false;
  arena::RingWriter* const ring = take_ring();
  if (!ring) return false;
  const bool done = ring->put({.size = uint32_t(size),
                               .slot = slot_of(file),
                               .kind = arena::Kind::write,
                               .offset = uint64_t(offset)},
                              fill, fd);
  done_with_ring();
  return done;
}

/// Moves the position on by `size` and gives where it was; negative if it can't be moved.
off_t reserve(OpenFile& file, int fd, size_t size) {
  int64_t at = file.position.load(std::memory_order_relaxed);
  while (at != OpenFile::kInKernel) {
    if (is_beyond_files(at, size)) return -1;
    if (file.position.compare_exchange_weak(at, at + int64_t(size))) return at;
  }
  const off_t moved = libc::real().lseek(fd, off_t(size), SEEK_CUR);
  return moved < 0 ? -1 : moved - off_t(size);
}

/// Takes the position back by what was reserved and not written.
void give_back(OpenFile& file, int fd, size_t size) {
  int64_t at = file.position.load(std::memory_order_relaxed);
  while (at != OpenFile::kInKernel) {
    if (file.position.compare_exchange_weak(at, at - int64_t(size))) return;
  }
  libc::real().lseek(fd, -off_t(size), SEEK_CUR);
}

/// What copies a piece to where it is told.
auto copier(const void* data, size_t size) {
  return [=](std::byte* to) { copy_piece(to, static_cast<const std::byte*>(data), int64_t(size)); };
}

/// Writes by this thread's ring, at the position if there is no `offset`; nothing if that can't be.
template <class Fill>
std::optional<ssize_t> write_by_ring(OpenFile& file, int fd, std::optional<off_t> offset,
                                     size_t size, Fill&& fill) {
  if (!takes(file, fd, size)) return {};
  const off_t at = offset ? *offset : reserve(file, fd, size);
  if (at < 0) return {};
  if (put(file, fd, at, size, fill)) return ssize_t(size);
  if (!offset) give_back(file, fd, size);
  return {};
}

/// Writes at the position by the kernel, which does not know it.
std::optional<ssize_t> write_by_kernel(OpenFile& file, int fd, const iovec* parts, int count,
                                       size_t size) {
  if (file.position.load(std::memory_order_relaxed) == OpenFile::kInKernel) return {};
  const off_t at = reserve(file, fd, size);
  if (at < 0) return {};
  const ssize_t written = count == 1 ? libc::real().pwrite(fd, parts->iov_base, parts->iov_len, at)
                                     : libc::real().pwritev(fd, parts, count, at);
  if (written < ssize_t(size)) {
    const int code = errno;
    give_back(file, fd, size - size_t(std::max<ssize_t>(written, 0)));
    errno = code;
  }
  return written;
}

/// Whether the descriptor is of a regular file on the mount, as the kernel knows without asking.
bool is_file_of_mount(int fd) {
  const int before = errno;
  struct statx about;
  const bool told =
      syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &about) == 0;
  errno = before;
  return told && S_ISREG(about.stx_mode) &&
         is_ours(makedev(about.stx_dev_major, about.stx_dev_minor));
}

/// What a descriptor that has just been opened is to us.
int look_at(int fd, int flags) {
  constexpr int kOtherwise = O_APPEND | O_SYNC | O_DSYNC | O_DIRECT | O_PATH | O_DIRECTORY;
  if (fd < 0 || (flags & kOtherwise & ~O_LARGEFILE) != 0) {
    if (fd >= 0 && file_of(fd)) note_closed(fd);  // closed by somebody behind our back
    return fd;
  }
  if (file_of(fd)) note_closed(fd);
  if (is_file_of_mount(fd) && !is_borrowed()) {
    note_opened(fd, flags);
  }
  return fd;
}

/// Before a descriptor is closed or becomes a copy of another one. A child of vfork(2) closes its
/// own, and the table is its parent's.
void let_go(int fd) {
  OpenFile* const file = file_of(fd);
  if (!file) return;
  if (is_borrowed()) {
    file->shared.store(true, std::memory_order_relaxed);
    leave_position_to_kernel(*file, fd);
  } else {
    note_closed(fd);
  }
}

/// Behind dup(2) and its kin.
int copied(int fd, int copy) {
  OpenFile* const file = file_of(fd);
  if (copy < 0 || copy == fd || (!file && !file_of(copy))) return copy;
  if (is_borrowed()) {
    if (file) {
      file->shared.store(true, std::memory_order_relaxed);
      leave_position_to_kernel(*file, fd);
    }
  } else {
    note_copied(file, copy);
  }
  return copy;
}

/// Before a descriptor gets a writer that does not come by here.
void make_plain(int fd) {
  OpenFile* const file = file_of(fd);
  if (!file) return;
  leave_position_to_kernel(*file, fd);
  file->state.store(OpenFile::refused, std::memory_order_release);
}

}  // namespace

std::optional<ssize_t> write_to(OpenFile& file, int fd, const void* data, size_t size) {
  if (const auto done = write_by_ring(file, fd, {}, size, copier(data, size))) return done;
  const iovec part{const_cast<void*>(data), size};
  return write_by_kernel(file, fd, &part, 1, size);
}

std::optional<ssize_t> write_at(OpenFile& file, int fd, const void* data, size_t size,
                                off_t offset) {
  return write_by_ring(file, fd, offset, size, copier(data, size));
}

std::optional<ssize_t> write_parts_to(OpenFile& file, int fd, const iovec* parts, int count,
                                      std::optional<off_t> offset) {
  const auto size = count >= 0 ? size_of({parts, size_t(count)}) : std::nullopt;
  if (!size) return {};
  const auto fill = [&](std::byte* to) {
    for (int i = 0; i < count; ++i) {
      if (parts[i].iov_len != 0) memcpy(to, parts[i].iov_base, parts[i].iov_len);
      to += parts[i].iov_len;
    }
  };
  if (const auto done = write_by_ring(file, fd, offset, *size, fill)) return done;
  if (offset) return {};
  return write_by_kernel(file, fd, parts, count, *size);
}

std::optional<off_t> move_to(OpenFile& file, int fd, off_t offset, int whence) {
  if (whence == SEEK_SET && offset >= 0 && !file.shared.load(std::memory_order_relaxed) &&
      file.state.load(std::memory_order_relaxed) == OpenFile::attached) {
    file.position.store(offset, std::memory_order_relaxed);
    return offset;
  }
  int64_t at = file.position.load(std::memory_order_relaxed);
  while (whence == SEEK_CUR && at != OpenFile::kInKernel) {
    int64_t to;
    if (__builtin_add_overflow(at, offset, &to) || to < 0) break;  // the kernel says what is wrong
    if (file.position.compare_exchange_weak(at, to)) return to;
  }
  leave_position_to_kernel(file, fd);
  return {};
}

void tell_kernel_of_size(int fd) {
  const int before = errno;
  struct statx about;
  syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &about);
  errno = before;
}

void before_copy(int from, int to) {
  if (!any_mounts()) return;
  before_use_of_position(to);
  before_use_of_position(from);
  if (is_file_of_mount(from)) tell_kernel_of_size(from);
}

std::optional<int> on_open(const char* path, int flags, mode_t mode) {
  if (!any_mounts()) return {};
  return look_at(libc::real().open(path, flags, mode), flags);
}

std::optional<int> on_openat(int folder, const char* path, int flags, mode_t mode) {
  if (!any_mounts()) return {};
  return look_at(libc::real().openat(folder, path, flags, mode), flags);
}

std::optional<int> on_creat(const char* path, mode_t mode) {
  return on_open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

std::optional<int> on_close(int fd) {
  let_go(fd);
  return {};
}

std::optional<int> on_close_range(unsigned first, unsigned last, int flags) {
  // With CLOSE_RANGE_CLOEXEC nothing is closed now.
  if (!(flags & 4)) for_each(first, last, [](int fd, OpenFile&) { let_go(fd); });
  return {};
}

bool on_closefrom(int first) {
  for_each(unsigned(std::max(first, 0)), kDescriptors, [](int fd, OpenFile&) { let_go(fd); });
  return false;
}

std::optional<int> on_dup(int fd) {
  if (!file_of(fd)) return {};
  return copied(fd, libc::real().dup(fd));
}

std::optional<int> on_dup2(int fd, int copy) {
  if (!file_of(fd) && !file_of(copy)) return {};
  if (fd != copy && is_borrowed()) let_go(copy);
  return copied(fd, libc::real().dup2(fd, copy));
}

std::optional<int> on_dup3(int fd, int copy, int flags) {
  if (!file_of(fd) && !file_of(copy)) return {};
  if (fd != copy && is_borrowed()) let_go(copy);
  return copied(fd, libc::real().dup3(fd, copy, flags));
}

std::optional<int> on_fcntl(int fd, int command, long argument) {
  if (!file_of(fd)) return {};
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
    return copied(fd, libc::real().fcntl(fd, command, argument));
  }
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) before_use_of_position(fd);
  if (command == F_SETFL && (argument & (O_APPEND | O_DIRECT | O_SYNC)) != 0) make_plain(fd);
  return {};
}

std::optional<FILE*> on_fdopen(int fd, const char*) {
  make_plain(fd);
  note_closed(fd);  // fclose(3) closes it where nobody sees it
  return {};
}

std::optional<FILE*> on_freopen(const char*, const char*, FILE* stream) {
  const int fd = stream ? fileno(stream) : -1;
  make_plain(fd);
  if (fd >= 0) note_closed(fd);
  return {};
}

std::optional<ssize_t> on_sendmsg(int, const msghdr* message, int) {
  if (!message || message->msg_controllen == 0) return {};
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part;
       part = CMSG_NXTHDR(const_cast<msghdr*>(message), part)) {
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) share_all();
  }
  return {};
}

std::optional<int> on_execve(const char*, char* const*, char* const*) {
  share_all();
  return {};
}

std::optional<int> on_spawn() {
  share_all();
  return {};
}

std::optional<FILE*> on_popen(const char*, const char*) {
  share_all();
  return {};
}

}  // namespace haichi::gasfs::client
