#include "gasfs/store/objects.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>

#include "base/io_parts.h"
#include "base/os.h"

namespace haichi::gasfs {
namespace {

constexpr size_t kMostKept = 256;
constexpr int kFolders = 256;

std::string folder_of(Inode inode) { return fmt::format("{:02x}", inode % kFolders); }
std::string path_of(Inode inode) { return fmt::format("{}/{:016x}", folder_of(inode), inode); }

/// openat(2) that follows no link and stays beneath `root`.
Outcome<Descriptor> open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = flags & O_CREAT ? 0600 : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return Descriptor(static_cast<int>(fd));
    if (errno != EINTR && errno != EAGAIN) return tl::unexpected(errno);
  }
}

}  // namespace

Result<std::unique_ptr<Objects>> Objects::open(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(errno, "cannot make {}: {}", folder, std::strerror(errno));
  Descriptor root(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) return fail(errno, "cannot open {}: {}", folder, std::strerror(errno));
  for (Inode i = 0; i < kFolders; ++i)
    if (::mkdirat(root.get(), folder_of(i).c_str(), 0700) != 0 && errno != EEXIST)
      return fail(errno, "cannot make folders in {}: {}", folder, std::strerror(errno));
  return std::unique_ptr<Objects>(new Objects(std::move(root)));
}

Outcome<Objects::Shared> Objects::find(Inode inode, bool make) {
  const std::lock_guard lock(mutex_);
  if (const auto known = where_.find(inode); known != where_.end()) {
    kept_.splice(kept_.begin(), kept_, known->second);
    return known->second->second;
  }
  auto opened = open_beneath(root_.get(), path_of(inode), O_RDWR | (make ? O_CREAT : 0));
  if (!opened) return tl::unexpected(opened.error());
  kept_.emplace_front(inode, std::make_shared<Descriptor>(std::move(*opened)));
  where_[inode] = kept_.begin();
  if (kept_.size() > kMostKept) {
    where_.erase(kept_.back().first);
    kept_.pop_back();
  }
  return kept_.front().second;
}

void Objects::forget(Inode inode) {
  const std::lock_guard lock(mutex_);
  const auto known = where_.find(inode);
  if (known == where_.end()) return;
  kept_.erase(known->second);
  where_.erase(known);
}

Done Objects::write(Inode inode, std::span<const Extent> extents,
                    std::span<const std::byte> payload) {
  const auto fd = find(inode, true);
  if (!fd) return tl::unexpected(fd.error());
  for (size_t i = 0; i < extents.size();) {
    const uint64_t begin = extents[i].offset;
    size_t length = 0;  // of those that follow on each other, which are one call
    for (; i < extents.size() && extents[i].offset == begin + length; ++i)
      length += extents[i].length;
    ++writes_;
    const auto done = write_fully(real_os(), (*fd)->get(), payload.first(length), int64_t(begin));
    if (!done) return tl::unexpected(done.error().code);
    payload = payload.subspan(length);
  }
  return {};
}

Done Objects::write_run(Inode inode, uint64_t offset, std::vector<iovec> pieces) {
  const auto fd = find(inode, true);
  if (!fd) return tl::unexpected(fd.error());
  for (std::span<iovec> left = pieces; !left.empty();) {
    const auto count = static_cast<int>(std::min<size_t>(left.size(), IOV_MAX));
    ++writes_;
    const ssize_t written = ::pwritev((*fd)->get(), left.data(), count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(errno);
    if (written == 0) return tl::unexpected(EIO);
    offset += static_cast<uint64_t>(written);
    left = without_first(left, static_cast<size_t>(written));
  }
  return {};
}

Done Objects::read(Inode inode, std::span<const Extent> extents, std::span<std::byte> into) {
  const auto fd = find(inode, false);
  if (!fd && fd.error() != ENOENT) return tl::unexpected(fd.error());
  if (!fd) std::ranges::fill(into, std::byte{0});
  for (const Extent& extent : extents) {
    if (!fd) break;
    const auto part = into.first(extent.length);
    const auto got = read_fully(real_os(), (*fd)->get(), part, int64_t(extent.offset));
    if (!got) return tl::unexpected(got.error().code);
    std::ranges::fill(part.subspan(size_t(*got)), std::byte{0});  // behind the object's end
    into = into.subspan(extent.length);
  }
  return {};
}

Done Objects::cut(Inode inode, uint64_t size) {
  const auto fd = find(inode, false);
  if (!fd) return fd.error() == ENOENT ? Done{} : tl::unexpected(fd.error());
  struct stat there{};
  if (::fstat((*fd)->get(), &there) != 0) return tl::unexpected(errno);
  if (static_cast<uint64_t>(there.st_size) <= size) return {};
  if (::ftruncate((*fd)->get(), static_cast<off_t>(size)) != 0) return tl::unexpected(errno);
  return {};
}

Done Objects::remove(Inode inode) {
  forget(inode);
  if (::unlinkat(root_.get(), path_of(inode).c_str(), 0) != 0 && errno != ENOENT)
    return tl::unexpected(errno);
  return {};
}

Done Objects::sync(Inode inode) {
  const auto fd = find(inode, false);
  if (!fd) return fd.error() == ENOENT ? Done{} : tl::unexpected(fd.error());
  if (::fdatasync((*fd)->get()) != 0) return tl::unexpected(errno);
  // The object's own name, should it be a new one.
  const auto folder = open_beneath(root_.get(), folder_of(inode), O_RDONLY | O_DIRECTORY);
  if (!folder) return tl::unexpected(folder.error());
  if (::fsync(folder->get()) != 0) return tl::unexpected(errno);
  return {};
}

Outcome<Space> Objects::space() const {
  struct statvfs found{};
  if (::fstatvfs(root_.get(), &found) != 0) return tl::unexpected(errno);
  return Space{found.f_frsize, found.f_blocks, found.f_bavail, found.f_files, found.f_favail};
}

Status Objects::each(const std::function<bool(Inode, uint64_t)>& take) const {
  for (Inode i = 0; i < kFolders; ++i) {
    auto fd = open_beneath(root_.get(), folder_of(i), O_RDONLY | O_DIRECTORY);
    if (!fd) return fail(fd.error(), "cannot open {}: {}", folder_of(i), std::strerror(fd.error()));
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(::dup(fd->get())), &closedir);
    if (!folder) return fail(errno, "cannot list {}: {}", folder_of(i), std::strerror(errno));
    while (const dirent* entry = ::readdir(folder.get())) {
      const std::string_view name = entry->d_name;
      Inode inode = 0;
      const auto read = std::from_chars(name.data(), name.data() + name.size(), inode, 16);
      struct stat there{};
      if (name.size() != 16 || read.ptr != name.data() + name.size()) continue;
      if (::fstatat(fd->get(), entry->d_name, &there, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!take(inode, static_cast<uint64_t>(there.st_size))) return {};
    }
  }
  return {};
}

}  // namespace haichi::gasfs
