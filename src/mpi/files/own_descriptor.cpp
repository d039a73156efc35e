#include "mpi/files/own_descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <mpi.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <memory>

#include "base/number_text.h"
#include "base/os.h"
#include "mpi/files/descriptors.h"

namespace haichi::mpi {
namespace {

// statfs(2): a client of the network file system caches pages of its own, so that bytes written by
// an aggregator need not be seen through the program's handle on another node.
constexpr int64_t kNfsMagic = 0x6969;

/// For the number that the next descriptor gets. Found by another file: to open the right one and
/// close it again would take the program's own locks of it away (fcntl(2), F_SETLK).
std::optional<DescriptorShare> share_for_next() {
  const int next = real_os().open("/", O_PATH | O_CLOEXEC, 0);
  if (next < 0) return std::nullopt;
  auto share = DescriptorShare::take(next, DescriptorShare::access);
  real_os().close(next);
  return share;
}

}  // namespace

OwnDescriptor::OwnDescriptor(std::string path, int amode) : path_(std::move(path)), amode_(amode) {
  // Which file it is a client of a parallel file system knows; its size it would have to ask for.
  struct statx facts;
  constexpr unsigned kWanted = STATX_INO | STATX_TYPE;
  if (statx(AT_FDCWD, path_.c_str(), AT_STATX_DONT_SYNC, kWanted, &facts) != 0) {
    refusal_ = strerror(errno);
  } else if (!S_ISREG(facts.stx_mode)) {
    refusal_ = "it is not a regular file";
  } else {
    device_ = makedev(facts.stx_dev_major, facts.stx_dev_minor);
    inode_ = facts.stx_ino;
  }
  tried_ = !refusal_.empty();
}

int OwnDescriptor::get() {
  if (tried_.load(std::memory_order_acquire)) return fd_;
  const std::lock_guard guard(mutex_);
  if (!tried_) open();
  tried_.store(true, std::memory_order_release);
  return fd_;
}

std::string OwnDescriptor::refusal() {
  (void)get();
  return refusal_;
}

Result<int> OwnDescriptor::open_name(const std::string& name) {
  Os& os = real_os();
  // Asked before it is opened, for the same locks.
  struct statfs system;
  if (statfs(name.c_str(), &system) == 0 && int64_t(system.f_type) == kNfsMagic)
    return fail(EINVAL, "it lies on NFS, whose clients do not see each other's writes at once");
  // Read access is needed for read-modify-write even where the program only writes. Should the name
  // be a FIFO's by now, nobody waits for its other end.
  constexpr int kHow = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  readable_ = true;
  int fd = os.open(name.c_str(), ((amode_ & MPI_MODE_RDONLY) ? O_RDONLY : O_RDWR) | kHow, 0);
  if (fd < 0 && (amode_ & MPI_MODE_WRONLY)) {
    fd = os.open(name.c_str(), O_WRONLY | kHow, 0);
    readable_ = false;
  }
  if (fd < 0) return fail(-fd, "{}", strerror(-fd));
  if (is_file(fd)) return fd;
  os.close(fd);
  return fail(ESTALE, "its name is another file's by now");
}

bool OwnDescriptor::is_file(int fd) const {
  struct stat facts;
  return real_os().fstat(fd, &facts) == 0 && facts.st_dev == device_ && facts.st_ino == inode_;
}

/// The name that the system has for a descriptor of the file, which is the library's; or empty.
std::string OwnDescriptor::name_by_descriptor() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/fd"), closedir);
  while (const dirent* const each = all ? readdir(all.get()) : nullptr) {
    const auto number = whole_number(each->d_name);
    if (number && is_file(*number)) return fmt::format("/proc/self/fd/{}", *number);
  }
  return "";
}

void OwnDescriptor::open() {
  auto share = share_for_next();
  if (!share) {
    refusal_ = "too many files are open";
    return;
  }
  Result<int> fd = open_name(path_);
  if (!fd) {
    // The name may be gone, another file's, or relative to another folder.
    const std::string name = name_by_descriptor();
    if (!name.empty()) fd = open_name(name);
  }
  if (!fd) {
    refusal_ = fd.error().text;
    return;
  }
  fd_ = *fd;
  share_.emplace(*std::move(share));
}

Status OwnDescriptor::close() {
  if (fd_ < 0) return {};
  const int closed = real_os().close(fd_.exchange(-1));
  // Closing that a signal interrupts has given the descriptor back, and nothing is said to be lost.
  if (closed == 0 || closed == -EINTR || !written_) return {};
  return fail(-closed, "closing it after writing failed: {}", strerror(-closed));
}

}  // namespace haichi::mpi
