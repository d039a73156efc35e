#include "base/os.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/descriptor.h"

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

bool Os::may_grow_to(int64_t size) {
  rlimit most;
  return ::getrlimit(RLIMIT_FSIZE, &most) != 0 || rlim_t(size) <= most.rlim_cur;
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

namespace {

/// Nobody can guess it, so nobody can have put a file there; on a system that gives no random
/// numbers it is only unlikely, and O_EXCL has to do.
uint64_t random_number() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == ssize_t(sizeof number)) return number;
  const Descriptor source(::open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (source && ::read(source.get(), &number, sizeof number) == ssize_t(sizeof number))
    return number;
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return uint64_t(now.tv_sec) * 1000000007 + uint64_t(now.tv_nsec) * 65537 + uint64_t(getpid());
}

struct Place {
  std::string folder;
  std::string name;
};

Place place_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == path.npos) return {".", path};
  return {path.substr(0, slash + 1), path.substr(slash + 1)};
}

/// Keeps a pipe without a reader from ending the program.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once = {};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

/// Writes into what has no offsets, opened with O_NONBLOCK. Returns an errno value or 0.
int write_stream(int fd, std::string_view text) {
  constexpr int kPatienceMs = 10000;  // without any progress
  const NoPipeSignal guard;
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), std::min(text.size(), kMaxTransfer));
    if (n >= 0) {
      text.remove_prefix(size_t(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return errno;
    pollfd room = {fd, POLLOUT, 0};
    const int ready = ::poll(&room, 1, kPatienceMs);
    if (ready == 0) return ETIMEDOUT;
    if (ready < 0 && errno != EINTR) return errno;
  }
  return 0;
}

bool of_caller_or_root(const struct stat& facts) {
  return facts.st_uid == geteuid() || facts.st_uid == 0;
}

Status refused(int code, const std::string& path, const char* why = nullptr) {
  return fail(code, "cannot write {}: {}", path, why ? why : strerror(code));
}

/// Opens `name` in `folder`, which is not to be replaced, and writes into it.
Status write_in_place(int folder, const std::string& name, int flags, const std::string& path,
                      std::string_view text) {
  const Descriptor file(
      ::openat(folder, name.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0666));
  if (!file)
    return refused(errno, path, errno == ENXIO ? "nobody reads what is written to it" : nullptr);
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) return refused(errno, path);
  if (S_ISREG(facts.st_mode) && (flags & O_NOFOLLOW))
    return refused(EAGAIN, path, "it changes under haichi");
  if (!S_ISREG(facts.st_mode) && !S_ISFIFO(facts.st_mode) && !S_ISCHR(facts.st_mode))
    return refused(EINVAL, path, "it is neither a file nor a FIFO nor a terminal");
  if (S_ISFIFO(facts.st_mode) && !of_caller_or_root(facts))
    return refused(EPERM, path, "it is a FIFO of another user");
  if (S_ISREG(facts.st_mode) && !real_os().may_grow_to(int64_t(text.size())))
    return refused(EFBIG, path);
  if (S_ISREG(facts.st_mode) && ::ftruncate(file.get(), 0) != 0) return refused(errno, path);
  const int code = write_stream(file.get(), text);
  return code == 0 ? Status() : refused(code, path);
}

/// Through a symbolic link, which the caller or root must have made. What it says is read from the
/// link itself, so that nobody can put another in its place in between.
Status write_through_link(int folder, const std::string& name, const std::string& path,
                          std::string_view text) {
  const Descriptor link(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  if (!link || ::fstat(link.get(), &facts) != 0) return refused(errno, path);
  if (!S_ISLNK(facts.st_mode)) return refused(EAGAIN, path, "it changes under haichi");
  if (!of_caller_or_root(facts))
    return refused(EPERM, path, "it is a symbolic link of another user");
  struct statfs system = {};
  // The links of /proc/self/fd lead to what has no name.
  if (::fstatfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC)
    return write_in_place(folder, name, 0, path, text);
  char target[PATH_MAX];
  const ssize_t n = ::readlinkat(link.get(), "", target, sizeof target - 1);
  if (n < 0) return refused(errno, path);
  return write_in_place(folder, std::string(target, size_t(n)), O_CREAT, path, text);
}

Status replace(int folder, const std::string& name, const std::string& path,
               std::string_view text) {
  if (!real_os().may_grow_to(int64_t(text.size()))) return refused(EFBIG, path);
  constexpr int kNames = 16;
  std::string temporary;
  int fd = -EEXIST;
  for (int i = 0; i < kNames && fd == -EEXIST; ++i) {
    temporary = fmt::format(".haichi-{:016x}.tmp", random_number());
    fd = or_errno(::openat(folder, temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  }
  if (fd < 0)
    return fail(-fd, "cannot write {}: creating a file beside it failed: {}", path, strerror(-fd));
  const Status written = write_fully(real_os(), fd, std::as_bytes(std::span(text)), 0);
  const int closed = real_os().close(fd);
  int code = written ? 0 : written.error().code;
  if (code == 0 && closed < 0) code = -closed;
  if (code == 0 && ::renameat(folder, temporary.c_str(), folder, name.c_str()) != 0) code = errno;
  if (code == 0) return {};
  ::unlinkat(folder, temporary.c_str(), 0);
  return refused(code, path);
}

/// Whether a descriptor has text that can be read at once; `most` becomes what may be read of it.
Status readable(int fd, const std::string& path, int64_t& most,
                const std::function<Status(const struct stat&)>& accept) {
  constexpr int64_t kMostOfDevice = 1 << 20;  // /dev/zero has no end
  struct stat facts = {};
  if (::fstat(fd, &facts) != 0) return fail(errno, "cannot read {}: {}", path, strerror(errno));
  if (accept)
    if (auto accepted = accept(facts); !accepted) return accepted;
  if (S_ISDIR(facts.st_mode)) return fail(EINVAL, "{} is a folder, not a file", path);
  if (S_ISCHR(facts.st_mode)) most = std::min(most, kMostOfDevice);
  if (!S_ISREG(facts.st_mode) && !S_ISCHR(facts.st_mode))
    return fail(EINVAL, "{} is a FIFO or a device, not a file", path);
  if (facts.st_size > most)
    return fail(EFBIG, "{} has {} bytes, more than {}", path, facts.st_size, most);
  return {};
}

}  // namespace

Status write_file_atomically(const std::string& path, std::string_view text) {
  const Place place = place_of(path);
  const Descriptor folder(::open(place.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return refused(errno, path);
  struct stat facts = {};
  if (::fstatat(folder.get(), place.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT || place.name.empty()) return refused(errno, path);
  } else if (S_ISLNK(facts.st_mode)) {
    return write_through_link(folder.get(), place.name, path, text);
  } else if (S_ISDIR(facts.st_mode)) {
    return refused(EISDIR, path);
  } else if (!S_ISREG(facts.st_mode)) {
    return write_in_place(folder.get(), place.name, O_NOFOLLOW, path, text);
  }
  return replace(folder.get(), place.name, path, text);
}

Result<std::string> read_file(const std::string& path, int64_t most) {
  return read_file(path, most, 0, nullptr);
}

Result<std::string> read_file(const std::string& path, int64_t most, int flags,
                              const std::function<Status(const struct stat&)>& accept) {
  // O_NONBLOCK: opening a FIFO does not wait for somebody who writes.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags));
  if (!file) return fail(errno, "cannot open {}: {}", path, strerror(errno));
  if (auto fine = readable(file.get(), path, most, accept); !fine)
    return tl::unexpected(fine.error());
  // Not on the stack: the program's threads may have little.
  constexpr size_t kChunk = 65536;
  std::string text;
  for (size_t have = 0;;) {
    text.resize(have + kChunk);
    const int64_t n = real_os().pread(file.get(), &text[have], kChunk, int64_t(have));
    if (n == -EINTR) continue;
    if (n < 0) return fail(int(-n), "cannot read {}: {}", path, strerror(int(-n)));
    have += size_t(n);
    if (int64_t(have) > most) return fail(EFBIG, "{} has more than {} bytes", path, most);
    if (n > 0) continue;
    text.resize(have);
    return text;
  }
}

Result<FolderLock> FolderLock::take(const std::string& path, int patience_ms) {
  constexpr int kPauseMs = 5;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file) return fail(errno, "cannot open {}: {}", path, strerror(errno));
  for (int waited = 0;; waited += kPauseMs) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return FolderLock(file.release());
    if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS || errno == EBADF ||
        errno == EINVAL)
      return fail(ENOTSUP, "{} cannot be locked: {}", path, strerror(errno));
    if (errno != EWOULDBLOCK && errno != EINTR)
      return fail(errno, "cannot lock {}: {}", path, strerror(errno));
    if (waited >= patience_ms)
      return fail(ETIMEDOUT, "somebody else holds {} for more than {} s", path,
                  double(patience_ms) * 1e-3);
    ::poll(nullptr, 0, kPauseMs);
  }
}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace haichi
