#include "numaio/preloaded/hooks.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "generated/libc_real.h"
#include "numaio/preloaded/undisturbed.h"

namespace haichi::numaio::preloaded {
namespace {

constexpr size_t kMostAtOnce = 0x7ffff000;  // what the kernel reads in one call
constexpr int kMostParts = 64;

/// Restores errno, which a call that succeeds leaves as it was.
class Errno {
 public:
  ~Errno() { errno = before_; }
  Errno(const Errno&) = delete;
  Errno& operator=(const Errno&) = delete;
  Errno() = default;
  void leave_at(int code) { before_ = code; }

 private:
  int before_ = errno;
};

/// All bytes of the parts; nothing if there are so many, or so small ones, that it can't pay, or if
/// the kernel would refuse them.
std::optional<size_t> size_of(const iovec* parts, int count) {
  if (count <= 0 || count > kMostParts) return {};
  size_t size = 0;
  for (int i = 0; i < count; ++i) {
    if (parts[i].iov_len > kMostAtOnce - size) return {};
    size += parts[i].iov_len;
  }
  return size;
}

/// Reads `size` bytes into the parts, the large ones split. As preadv(2).
ssize_t read_into(int fd, const iovec* parts, int count, size_t size, off_t offset) {
  size_t done = 0;
  for (int i = 0; i < count && done < size; ++i) {
    const size_t wanted = std::min(parts[i].iov_len, size - done);
    void* const data = parts[i].iov_base;
    const auto at = offset + off_t(done);
    const ssize_t got =
        is_small(wanted) ? libc::real().pread(fd, data, wanted, at) : split(fd, data, wanted, at);
    if (got < 0) return done > 0 ? ssize_t(done) : -1;
    done += size_t(got);
    if (size_t(got) < wanted) break;
  }
  return ssize_t(done);
}

/// Moves the position on by what is there and reads that: whoever has the same position, a thread
/// or another process, gets other bytes, as with read(2). What could not be read is given back.
std::optional<ssize_t> read_parts_at_position(int fd, const iovec* parts, int count, size_t size) {
  const Undisturbed meanwhile;
  Errno outside;
  const off_t at = libc::real().lseek(fd, 0, SEEK_CUR);
  if (at < 0) return {};
  const size_t there = bytes_to_split(fd, size, at);
  if (there == 0) return {};
  const off_t end = libc::real().lseek(fd, off_t(there), SEEK_CUR);
  if (end < 0) return {};
  const ssize_t got = read_into(fd, parts, count, there, end - off_t(there));
  if (got < 0) outside.leave_at(errno);
  if (got < ssize_t(there))
    libc::real().lseek(fd, std::max<ssize_t>(got, 0) - off_t(there), SEEK_CUR);
  return got;
}

}  // namespace

std::optional<ssize_t> read_whole(int fd, void* data, size_t size, std::optional<off_t> offset) {
  const iovec part{data, std::min(size, kMostAtOnce)};
  return read_parts(fd, &part, 1, offset);
}

std::optional<ssize_t> read_parts(int fd, const iovec* parts, int count,
                                  std::optional<off_t> offset) {
  const auto size = size_of(parts, count);
  // As the plain call, which begins so; before there is anything to be undone: the unwinder that
  // cancels a thread is not the one that this object is linked with.
  pthread_testcancel();
  const Splitting now;
  if (!size || !now.allowed() || !may_split(*size)) return {};
  if (!offset) return read_parts_at_position(fd, parts, count, *size);
  if (*offset < 0) return {};
  const Undisturbed meanwhile;
  Errno outside;
  const size_t there = bytes_to_split(fd, *size, *offset);
  if (there == 0) return {};
  const ssize_t got = read_into(fd, parts, count, there, *offset);
  if (got < 0) outside.leave_at(errno);
  return got;
}

std::optional<int> on_unshare(int flags) {
  if (flags & CLONE_FILES) give_up();
  return {};
}

}  // namespace haichi::numaio::preloaded
