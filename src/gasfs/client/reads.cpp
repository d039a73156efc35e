// Reading of files on the mount by the arena.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <span>

#include "gasfs/client/hooks.h"
#include "gasfs/client/process.h"
#include "generated/libc_real.h"

// Whether the process has one thread; of glibc 2.32 and later.
extern "C" __attribute__((weak)) char __libc_single_threaded;

namespace haichi::gasfs::client {
namespace {

// A file that is read less often is not worth asking for.
constexpr uint8_t kReadsBefore = 2;

/// Whether a read may be asked of the dispatcher. Counts reads of a file that it has not been asked
/// for yet.
bool takes(OpenFile& file, int fd) {
  if (file.access == O_WRONLY) return false;
  const auto state = file.state.load(std::memory_order_acquire);
  if (state == OpenFile::attached) return !is_through_kernel(file);
  if (state != OpenFile::candidate) return false;
  if (file.reads.fetch_add(1, std::memory_order_relaxed) < kReadsBefore) return false;
  return attach(file, fd) && !is_through_kernel(file);
}

/// Memory in several parts, filled from the front.
class Sink {
 public:
  explicit Sink(std::span<const iovec> parts) : parts_(parts) {}
  void put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const iovec& part = parts_[number_];
      const size_t length = std::min(part.iov_len - used_, bytes.size());
      memcpy(static_cast<std::byte*>(part.iov_base) + used_, bytes.data(), length);
      bytes = bytes.subspan(length);
      used_ += length;
      if (used_ == part.iov_len) {
        ++number_;
        used_ = 0;
      }
    }
  }

 private:
  std::span<const iovec> parts_;
  size_t number_ = 0;
  size_t used_ = 0;
};

/// Reads by this thread's box; nothing if the kernel is to do it, from the start.
std::optional<ssize_t> read_by_arena(const OpenFile& file, int fd, off_t offset, size_t size,
                                     std::span<const iovec> parts) {
  arena::Reader* const reader = take_reader();
  if (!reader) return {};
  const int before = errno;
  const arena::ReadFile which{slot_of(file), file.number, fd};
  Sink sink(parts);
  size_t done = 0;
  for (bool at_end = false; done < size && !at_end;) {
    const auto part = reader->read(which, uint64_t(offset) + done, size - done);
    if (!part) {
      done_with_ring();
      errno = before;
      return {};
    }
    sink.put(part->bytes);
    done += part->bytes.size();
    at_end = part->at_end;
  }
  done_with_ring();
  errno = before;
  return ssize_t(done);
}

/// Takes the position over from the kernel, where nobody else can move it meanwhile.
bool take_position(OpenFile& file, int fd) {
  if (file.position.load(std::memory_order_relaxed) != OpenFile::kInKernel) return true;
  if (!&__libc_single_threaded || !__libc_single_threaded) return false;
  if (file.shared.load(std::memory_order_relaxed)) return false;
  const off_t at = libc::real().lseek(fd, 0, SEEK_CUR);
  if (at < 0) return false;
  file.position.store(at, std::memory_order_relaxed);
  // A signal handler may have moved it in between, or have made a child that has it too.
  const bool undisturbed =
      libc::real().lseek(fd, 0, SEEK_CUR) == at && !file.shared.load(std::memory_order_relaxed);
  if (!undisturbed) file.position.store(OpenFile::kInKernel, std::memory_order_relaxed);
  return undisturbed;
}

}  // namespace

std::optional<ssize_t> read_parts_at(OpenFile& file, int fd, std::span<const iovec> parts,
                                     size_t size, off_t offset) {
  if (size == 0 || offset < 0 || size > size_t(INT64_MAX - offset) || !takes(file, fd)) return {};
  return read_by_arena(file, fd, offset, size, parts);
}

std::optional<ssize_t> read_parts(OpenFile& file, int fd, std::span<const iovec> parts,
                                  size_t size) {
  if (size != 0 && takes(file, fd) && take_position(file, fd)) {
    int64_t at = file.position.load(std::memory_order_relaxed);
    while (at != OpenFile::kInKernel && size <= size_t(INT64_MAX - at)) {
      const auto got = read_by_arena(file, fd, at, size, parts);
      if (!got) break;
      // Two threads that read at once get different bytes: the second one begins again.
      if (file.position.compare_exchange_strong(at, at + *got)) return got;
    }
  }
  leave_position_to_kernel(file, fd);
  return {};
}

std::optional<size_t> size_of(std::span<const iovec> parts) {
  if (parts.size() > IOV_MAX) return {};
  size_t size = 0;
  for (const iovec& part : parts) {
    if (part.iov_len > size_t(SSIZE_MAX) - size) return {};
    size += part.iov_len;
  }
  return size;
}

std::optional<ssize_t> on_readv(int fd, const iovec* parts, int count) {
  OpenFile* const file = file_of(fd);
  if (!file) return {};
  const auto size = count >= 0 ? size_of({parts, size_t(count)}) : std::nullopt;
  return read_parts(*file, fd, {parts, size ? size_t(count) : 0}, size.value_or(0));
}

std::optional<ssize_t> on_preadv(int fd, const iovec* parts, int count, off_t offset) {
  OpenFile* const file = file_of(fd);
  const auto size = file && count >= 0 ? size_of({parts, size_t(count)}) : std::nullopt;
  if (!size) return {};
  return read_parts_at(*file, fd, {parts, size_t(count)}, *size, offset);
}

}  // namespace haichi::gasfs::client
