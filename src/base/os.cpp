#include "base/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

namespace haichi {
namespace {

// Linux transfers at most this many bytes in one call (read(2)).
constexpr size_t kMaxTransfer = 0x7ffff000;
// How often a write may return 0 bytes before it counts as an error.
constexpr int kMaxZeroWrites = 16;

int or_errno(int result) { return result < 0 ? -errno : result; }

}  // namespace

int Os::open(const char* path, int flags, mode_t mode) {
  return or_errno(::open(path, flags, mode));
}

int Os::close(int fd) { return or_errno(::close(fd)); }

int64_t Os::pread(int fd, void* data, size_t size, int64_t offset) {
  const ssize_t n = ::pread(fd, data, size, offset);
  return n < 0 ? -errno : n;
}

int64_t Os::pwrite(int fd, const void* data, size_t size, int64_t offset) {
  const ssize_t n = ::pwrite(fd, data, size, offset);
  return n < 0 ? -errno : n;
}

int Os::fstat(int fd, struct stat* out) { return or_errno(::fstat(fd, out)); }

int Os::lock(int fd, short type, int64_t offset, int64_t size) {
  struct flock request = {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  request.l_start = offset;
  request.l_len = size;
  return or_errno(::fcntl(fd, F_OFD_SETLK, &request));
}

int Os::locked_by_others(int fd, int64_t offset, int64_t size) {
  struct flock request = {};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  request.l_start = offset;
  request.l_len = size;
  if (::fcntl(fd, F_OFD_GETLK, &request) < 0) return -errno;
  return request.l_type != F_UNLCK;
}

Os& real_os() {
  static Os os;
  return os;
}

Status write_fully(Os& os, int fd, std::span<const std::byte> data, int64_t offset) {
  int zero_writes = 0;
  while (!data.empty()) {
    const int64_t n = os.pwrite(fd, data.data(), std::min(data.size(), kMaxTransfer), offset);
    if (n == -EINTR) continue;
    if (n < 0)
      return fail(int(-n), "writing {} bytes at offset {} failed: {}", data.size(), offset,
                  strerror(int(-n)));
    if (n == 0 && ++zero_writes > kMaxZeroWrites)
      return fail(EIO, "writing {} bytes at offset {} makes no progress", data.size(), offset);
    data = data.subspan(size_t(n));
    offset += n;
  }
  return {};
}

Result<int64_t> read_fully(Os& os, int fd, std::span<std::byte> data, int64_t offset) {
  int64_t done = 0;
  while (!data.empty()) {
    const int64_t n = os.pread(fd, data.data(), std::min(data.size(), kMaxTransfer), offset + done);
    if (n == -EINTR) continue;
    if (n < 0)
      return fail(int(-n), "reading {} bytes at offset {} failed: {}", data.size(), offset + done,
                  strerror(int(-n)));
    if (n == 0) break;
    data = data.subspan(size_t(n));
    done += n;
  }
  return done;
}

Status write_file_atomically(const std::string& path, std::string_view text) {
  Os& os = real_os();
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const int fd = os.open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return fail(-fd, "cannot create {}: {}", temporary, strerror(-fd));
  Status written = write_fully(os, fd, std::as_bytes(std::span(text)), 0);
  const int closed = os.close(fd);
  if (written && closed < 0) written = fail(-closed, "closing failed: {}", strerror(-closed));
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int code = written ? errno : written.error().code;
  ::unlink(temporary.c_str());
  return fail(code, "cannot write {}: {}", path, strerror(code));
}

Result<std::string> read_file(const std::string& path) {
  Os& os = real_os();
  const int fd = os.open(path.c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0) return fail(-fd, "cannot open {}: {}", path, strerror(-fd));
  std::string text;
  char chunk[65536];
  for (;;) {
    const int64_t n = os.pread(fd, chunk, sizeof chunk, int64_t(text.size()));
    if (n == -EINTR) continue;
    if (n <= 0) {
      os.close(fd);
      if (n < 0) return fail(int(-n), "cannot read {}: {}", path, strerror(int(-n)));
      return text;
    }
    text.append(chunk, size_t(n));
  }
}

}  // namespace haichi
