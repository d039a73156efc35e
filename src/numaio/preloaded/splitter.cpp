#include "numaio/preloaded/splitter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/clock.h"
#include "generated/libc_real.h"
#include "numaio/library/beneath.h"
#include "numaio/preloaded/handlers.h"
#include "numaio/preloaded/undisturbed.h"

namespace haichi::numaio::preloaded {

constinit std::atomic<size_t> least{16 << 10};  // io.split_from's least

namespace {

enum class State : int { unknown, loading, ready, never };

constinit std::atomic<State> state{State::unknown};
constinit haichi_io_beneath_pread_t* library = nullptr;  // these three are valid once ready
constinit haichi_io_beneath_small_t* small_now = nullptr;
constinit haichi_io_beneath_end_t* end_threads = nullptr;
constinit std::atomic<pid_t> owner{0};  // the process whose threads read; 0 in a child of fork(2)
constinit std::atomic<uint64_t> device{0};  // of the file that was split last

constinit std::atomic<int> splitting{0};  // how many Splitting there are

// Whether a filter of system calls is in force for this thread, or may be. Asks by nothing but what
// the loader has called to load this object, openat, read and close: a filter that kills for those
// has let no program begin.
bool may_be_filtered() {
  const auto file =
      int(syscall(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC));
  if (file < 0) return true;
  constexpr std::string_view kLine = "\nSeccomp:\t";
  std::array<char, 4096> text;
  size_t kept = 0;  // of what was read before: a part of the line
  bool found = false, filtered = true;
  for (long got; !found; kept = std::min(kept, kLine.size())) {
    got = syscall(SYS_read, file, text.data() + kept, text.size() - kept);
    if (got <= 0) {
      filtered = got < 0;  // a kernel without filters has no such line
      break;
    }
    const std::string_view seen(text.data(), kept + size_t(got));
    const size_t at = seen.find(kLine);
    found = at != std::string_view::npos && at + kLine.size() < seen.size();
    if (found) filtered = seen[at + kLine.size()] != '0';
    kept = std::min(seen.size(), kLine.size());
    memmove(text.data(), seen.data() + seen.size() - kept, kept);
  }
  syscall(SYS_close, file);
  return filtered;
}

/// Whether io.split asks for it, "on" only where no filter is in force.
bool is_asked_for() {
  const char* const split = getenv("HAICHI_IO_SPLIT");
  const char* const disabled = getenv("HAICHI_DISABLE");
  if (!split || (disabled && strcmp(disabled, "1") == 0)) return false;
  return strcmp(split, "always") == 0 || (strcmp(split, "on") == 0 && !may_be_filtered());
}

// Whether the kernel tells where threads may run. If a filter of system calls forbids that,
// libnuma, which comes with the library, says so on the program's standard error.
bool tells_processors() {
  std::array<unsigned long, 128> set;
  return syscall(SYS_sched_getaffinity, 0, sizeof set, set.data()) > 0;
}

void* open_library() {
  Dl_info self;
  char path[4096];
  if (dladdr(reinterpret_cast<void*>(&open_library), &self) == 0) return nullptr;
  const char* const slash = strrchr(self.dli_fname, '/');
  const size_t folder = slash ? size_t(slash + 1 - self.dli_fname) : 0;
  constexpr char kName[] = "libhaichi-io.so";
  if (folder + sizeof kName > sizeof path) return nullptr;
  memcpy(path, self.dli_fname, folder);
  memcpy(path + folder, kName, sizeof kName);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// A child has none of its parent's threads; libhaichi-io makes new ones there.
void after_fork_in_child() {
  owner.store(0, std::memory_order_relaxed);
  splitting.store(0);
}

/// Loads the library; the least size that it would split, or nothing.
std::optional<size_t> load() {
  void* const opened = tells_processors() ? open_library() : nullptr;
  if (!opened) return {};
  auto* const begin =
      reinterpret_cast<haichi_io_beneath_begin_t*>(dlsym(opened, HAICHI_IO_BENEATH_BEGIN));
  library = reinterpret_cast<haichi_io_beneath_pread_t*>(dlsym(opened, HAICHI_IO_BENEATH_PREAD));
  small_now = reinterpret_cast<haichi_io_beneath_small_t*>(dlsym(opened, HAICHI_IO_BENEATH_SMALL));
  end_threads = reinterpret_cast<haichi_io_beneath_end_t*>(dlsym(opened, HAICHI_IO_BENEATH_END));
  if (!begin || !library || !small_now || !end_threads ||
      pthread_atfork(nullptr, nullptr, after_fork_in_child) != 0)
    return {};
  return begin([](int fd, void* data, size_t size, off_t offset) {
    return libc::real().pread(fd, data, size, offset);
  });
}

/// Finds out once what is to be done; false for whoever asks meanwhile.
bool get_ready() {
  State known = State::unknown;
  if (!state.compare_exchange_strong(known, State::loading)) return known == State::ready;
  const Undisturbed meanwhile;
  const auto size = load();
  least.store(size.value_or(SIZE_MAX), std::memory_order_relaxed);
  known = State::loading;  // unless somebody has given up meanwhile
  state.compare_exchange_strong(known, size ? State::ready : State::never);
  return state.load() == State::ready;
}

/// Whether the threads that read are this process's: a child of vfork(2) has its parent's memory
/// and descriptors of its own.
bool is_owner() {
  const pid_t self = getpid();
  pid_t known = 0;
  return owner.compare_exchange_strong(known, self) || known == self;
}

/// Local file systems, and those of the network whose clients read pieces in any order. Files of
/// proc, sysfs and their kin are regular ones, too.
bool reads_in_any_order(int fd) {
  static constexpr std::array<uint32_t, 17> kKnown = {EXT4_SUPER_MAGIC,
                                                      TMPFS_MAGIC,
                                                      RAMFS_MAGIC,
                                                      0x58465342 /* xfs */,
                                                      BTRFS_SUPER_MAGIC,
                                                      F2FS_SUPER_MAGIC,
                                                      OVERLAYFS_SUPER_MAGIC,
                                                      HUGETLBFS_MAGIC,
                                                      NFS_SUPER_MAGIC,
                                                      ISOFS_SUPER_MAGIC,
                                                      MSDOS_SUPER_MAGIC,
                                                      SQUASHFS_MAGIC,
                                                      EROFS_SUPER_MAGIC_V1,
                                                      0x0bd00bd0 /* lustre */,
                                                      0x2fc12fc1 /* zfs */,
                                                      0x00c36400 /* ceph */,
                                                      0x47504653 /* gpfs */};
  struct statfs about;
  return fstatfs(fd, &about) == 0 &&
         std::find(kKnown.begin(), kKnown.end(), uint32_t(about.f_type)) != kKnown.end();
}

}  // namespace

bool may_split(size_t size) {
  State known = state.load(std::memory_order_acquire);
  if (known == State::ready && small_now(size)) return false;
  if (known == State::never || known == State::loading) return false;
  if (known == State::unknown) {
    // Before any other system call, and again in each handler.
    if (!is_asked_for()) return give_up(), false;
  }
  if (may_be_handler()) return false;
  if (known == State::unknown) {
    const int before = errno;
    const bool ready = get_ready();
    errno = before;
    if (!ready || small_now(size)) return false;
  }
  return is_owner();
}

size_t bytes_to_split(int fd, size_t size, off_t offset) {
  struct stat about;
  if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= offset) return 0;
  const size_t there = std::min(size, size_t(about.st_size - offset));
  if (is_small(there)) return 0;
  const int flags = libc::real().fcntl(fd, F_GETFL, 0);
  if (flags < 0 || (flags & (O_DIRECT | O_PATH)) != 0 || (flags & O_ACCMODE) == O_WRONLY) return 0;
  if (device.load(std::memory_order_relaxed) == about.st_dev) return there;
  if (!reads_in_any_order(fd)) return 0;
  device.store(about.st_dev, std::memory_order_relaxed);
  return there;
}

ssize_t split(int fd, void* data, size_t size, off_t offset) {
  return library(fd, data, size, offset);
}

Splitting::Splitting() {
  splitting.fetch_add(1);
  allowed_ = state.load() != State::never;
}

Splitting::~Splitting() { splitting.fetch_sub(1); }

void give_up() {
  least.store(SIZE_MAX, std::memory_order_relaxed);
  state.store(State::never);
}

void end_splitting() {
  const pid_t known = owner.load();
  if (known != 0 && known != getpid()) return;  // vfork(2)'s child ends nothing of its parent's
  give_up();
  // Not for ever: this may be a handler that has interrupted a read at its beginning.
  constexpr int64_t kPatienceNs = 5'000'000'000;
  for (const int64_t until = now_ns() + kPatienceNs; splitting.load() > 0 && now_ns() < until;)
    sched_yield();
  if (!end_threads) return;
  const Undisturbed meanwhile;
  end_threads();
}

}  // namespace haichi::numaio::preloaded
