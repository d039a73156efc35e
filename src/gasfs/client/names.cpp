#include "gasfs/client/names.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <span>

#include "gasfs/client/process.h"
#include "gasfs/files/lease_clock.h"
#include "generated/libc_real.h"

namespace haichi::gasfs::client {
namespace {

constexpr size_t kLongestPath = 255;
// A path is worth a lease when it is asked for so often in so long: that many of the kernel's
// answers are what asking for one costs.
constexpr uint8_t kAsksBefore = 6;
constexpr int64_t kHotNs = 50'000'000;
/// Behind a lease that could not be had, or was lost at once.
constexpr int64_t kPauseNs = 100'000'000;

/// What is kept of one path. Whoever is at it has `busy`; nobody waits for that.
struct KnownName {
  std::atomic<uint8_t> busy;
  uint8_t asks;          // since `since`
  uint8_t steps;         // how many of `inodes` are known; 0: none
  uint16_t length;       // of the path
  uint32_t lease;        // 0: what is told is not kept
  uint32_t user, group;  // who was told
  int64_t since;
  int64_t not_before;  // when a lease is asked for again
  int64_t until;
  uint64_t inodes[arena::kMostSteps];  // of the mount, the folders on the way, and the file
  struct stat about;
  struct statx more;
  char path[kLongestPath + 1];
};

/// Zero in a child of fork(2), which has no arena.
struct Names {
  KnownName names[arena::kNames];
};

constinit std::atomic<Names*> all_names{nullptr};

Names* names() {
  if (Names* const there = all_names.load(std::memory_order_acquire)) return there;
  void* const room =
      mmap(nullptr, sizeof(Names), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  Names* first = nullptr;
  if (madvise(room, sizeof(Names), MADV_WIPEONFORK) == 0 &&
      all_names.compare_exchange_strong(first, static_cast<Names*>(room))) {
    return static_cast<Names*>(room);
  }
  munmap(room, sizeof(Names));
  return first;
}

/// As whom the kernel looks at files for this thread.
uint32_t user() { return uint32_t(syscall(SYS_setfsuid, -1)); }
uint32_t group() { return uint32_t(syscall(SYS_setfsgid, -1)); }

/// Whether the mount is still there, as this thread sees it. The dispatcher is not asked.
bool is_there(const MountFolder& mount) {
  struct statx about;
  return syscall(SYS_statx, AT_FDCWD, mount.path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE,
                 &about) == 0 &&
         makedev(about.stx_dev_major, about.stx_dev_minor) == mount.device;
}

/// In this order: what is true when the lease is looked at, and the time behind that, is told.
bool is_right(const KnownName& name, size_t number, const MountFolder& mount) {
  return name.lease != 0 && name.user == user() && name.group == group() && is_there(mount) &&
         lease_of_name(number) == name.lease && lease_clock_ns() < name.until;
}

/// Counts an answer of the kernel's; whether there were so many that a lease is worth it.
bool is_hot(KnownName& name) {
  const int64_t now = lease_clock_ns();
  if (now - name.since > kHotNs) {
    name.since = now;
    name.asks = 0;
  }
  if (name.asks < kAsksBefore) ++name.asks;
  return name.asks == kAsksBefore && now >= name.not_before;
}

/// Asks the kernel for each step of the path, of which each folder must be one of the mount and
/// none may be a symbolic link: their inodes, and what it tells of the last. 0 if that can't be
/// kept.
uint8_t walk(const char* path, size_t length, const MountFolder& mount,
             uint64_t (&inodes)[arena::kMostSteps], struct stat& about) {
  char part[kLongestPath + 1];
  memcpy(part, path, length + 1);
  uint8_t steps = 0;
  for (size_t end = mount.length; end <= length; ++end) {
    if (path[end] != '/' && path[end] != '\0') continue;
    part[end] = '\0';
    const bool first = end == mount.length;
    const int failed = first ? libc::real().stat(part, &about) : libc::real().lstat(part, &about);
    part[end] = path[end];
    const bool fit = failed == 0 && about.st_dev == mount.device && !S_ISLNK(about.st_mode) &&
                     (end == length || S_ISDIR(about.st_mode));
    if (!fit || steps == arena::kMostSteps) return 0;
    inodes[steps++] = about.st_ino;
  }
  return steps;
}

/// The kernel's answer to statx(2) of a path that is no symbolic link.
bool ask_more(const char* path, struct statx& more) {
  constexpr int kFlags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  return libc::real().statx(AT_FDCWD, path, kFlags, kStatxKept, &more) == 0;
}

/// Gets a lease, and then the kernel's answers, which are kept with it.
bool learn(KnownName& name, size_t number, const MountFolder& mount) {
  name.lease = 0;
  name.not_before = lease_clock_ns() + kPauseNs;
  if (is_borrowed() || !attach_to(mount)) return false;
  struct stat found;
  if (name.steps == 0) name.steps = walk(name.path, name.length, mount, name.inodes, found);
  if (name.steps == 0) return false;
  arena::Reader* const reader = take_reader();
  if (!reader) return false;
  const auto watch = reader->watch(uint16_t(number), {name.inodes, name.steps}, -1);
  done_with_ring();
  if (!watch) return false;
  uint64_t inodes[arena::kMostSteps];
  const uint32_t as_user = user(), as_group = group();
  const uint8_t steps = walk(name.path, name.length, mount, inodes, found);
  const bool same = steps == name.steps && memcmp(inodes, name.inodes, steps * sizeof *inodes) == 0;
  name.steps = same ? steps : 0;
  if (!same || !ask_more(name.path, name.more)) return false;
  name.about = found;
  name.user = as_user;
  name.group = as_group;
  name.until = watch->until;
  name.lease = watch->lease;
  if (!is_right(name, number, mount)) return false;
  name.not_before = 0;
  return true;
}

/// The length of a path that may be kept: each of its names beneath the mount is one, and none is
/// "." or "..". 0 for others.
size_t length_of(const char* path, const MountFolder& mount) {
  size_t length = mount.length, name = 0;  // of the name at hand
  for (; length <= kLongestPath && path[length] != '\0'; ++length) {
    if (path[length] != '/') {
      ++name;
      continue;
    }
    if (length > mount.length && name == 0) return 0;
    name = 0;
    const char* const next = path + length + 1;
    const size_t dots = next[0] != '.' ? 0 : next[1] != '.' ? 1 : 2;
    if (dots != 0 && (next[dots] == '/' || next[dots] == '\0')) return 0;
  }
  return length <= kLongestPath && name != 0 ? length : 0;
}

size_t number_of(const char* path, size_t length) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char each : std::span(path, length)) {
    hash = (hash ^ uint8_t(each)) * 0x100000001b3;
  }
  return size_t(hash ^ hash >> 32) % arena::kNames;
}

/// Whether what is kept of the path is right, now that it is asked for.
bool knows(KnownName& name, size_t number, const char* path, size_t length,
           const MountFolder& mount) {
  if (name.length != length || memcmp(name.path, path, length) != 0) {
    memcpy(name.path, path, length + 1);
    name.length = uint16_t(length);
    name.lease = 0;
    name.steps = name.asks = 0;
    name.since = name.not_before = 0;
  }
  return is_right(name, number, mount) || (is_hot(name) && learn(name, number, mount));
}

/// Has `take` look at what is kept of a path, if that is right.
template <class Take>
std::optional<int> ask_of_name(const char* path, Take take) {
  const MountFolder* const mount = mount_above(path);
  const size_t length = mount ? length_of(path, *mount) : 0;
  Names* const table = length != 0 ? names() : nullptr;
  if (!table) return {};
  const size_t number = number_of(path, length);
  KnownName& name = table->names[number];
  if (name.busy.exchange(1, std::memory_order_acquire) != 0) return {};
  const int before = errno;
  const bool known = knows(name, number, path, length, *mount);
  if (known) take(name);
  name.busy.store(0, std::memory_order_release);
  errno = before;
  return known ? std::optional(0) : std::nullopt;
}

}  // namespace

std::optional<int> stat_of_name(const char* path, struct stat& about) {
  return ask_of_name(path, [&](const KnownName& name) { about = name.about; });
}

std::optional<int> statx_of_name(const char* path, struct statx& about) {
  return ask_of_name(path, [&](const KnownName& name) { about = name.more; });
}

}  // namespace haichi::gasfs::client
