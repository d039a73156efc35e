// What the dispatcher of a node offers to its faces (the FUSE mount, the preload): the files of the
// gather file system by inode number. The one seam between the faces and what is behind them, so
// that each is tested without the other.
//
// Paper 002, section 2 (gather, arrange, scatter) and 3.3 (the library that hooks system calls).
#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace haichi::gasfs {

/// Names a file of the file system, on all nodes alike; never used again for another file.
using Inode = uint64_t;
/// The folder at the top.
inline constexpr Inode kRoot = 1;
/// Names an open file description of this node.
using Handle = uint64_t;

/// The result of a call, or the errno value (positive) with which the program's call fails. What
/// else is to be said of the cause stands in the dispatcher's log.
template <class T>
using Outcome = tl::expected<T, int>;
using Done = tl::expected<void, int>;

/// Longest name of a file, in bytes (NAME_MAX).
inline constexpr size_t kLongestName = 255;

/// What stat(2) tells. The size counts what this node has gathered and not yet sent.
struct Attributes {
  Inode inode = 0;
  mode_t mode = 0;  // type and permissions
  uint32_t links = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  uint64_t device = 0;  // of a device file
  uint64_t size = 0;    // bytes
  uint64_t blocks = 0;  // of 512 bytes
  timespec accessed = {};
  timespec modified = {};
  timespec changed = {};
};

/// What setattr changes; what has no value stays. A time of tv_nsec UTIME_NOW means now.
struct Changes {
  std::optional<mode_t> mode;  // permissions; the type stays
  std::optional<uid_t> uid;
  std::optional<gid_t> gid;
  std::optional<uint64_t> size;
  std::optional<timespec> accessed;
  std::optional<timespec> modified;
};

/// What a new file gets from the process that makes it; `mode` has its umask taken off already. In
/// a folder with S_ISGID it gets that folder's group instead, a folder that bit too.
struct NewFile {
  mode_t mode = 0;  // type (for create, mkdir and symlink what they make) and permissions
  uid_t uid = 0;
  gid_t gid = 0;
  uint64_t device = 0;
};

struct Opened {
  Attributes attributes;
  Handle handle = 0;
};

/// One name in a folder, without "." and "..", which the face adds.
struct Entry {
  std::string_view name;  // valid during the call
  Inode inode = 0;
  mode_t type = 0;      // S_IFMT bits
  uint64_t cursor = 0;  // readdir with it goes on behind this entry
};
/// Cursors of entries are larger than this: the face has 0 (the start), 1 and 2 for "." and "..".
inline constexpr uint64_t kFirstCursor = 2;

struct Space {
  uint64_t block_size = 4096;  // bytes
  uint64_t blocks = 0;
  uint64_t free_blocks = 0;
  uint64_t files = 0;
  uint64_t free_files = 0;
};

/// Which part of a file is wanted by seek: lseek(2)'s SEEK_DATA and SEEK_HOLE.
enum class Part { data, hole };

/// Told of what this node is about to change, before anybody can see it; called from any thread,
/// and must not wait.
class ChangeWatcher {
 public:
  virtual ~ChangeWatcher() = default;
  /// Attributes or entries of these may change until changed() is called with the same; of none:
  /// of any.
  virtual void changing(std::span<const Inode> inodes) = 0;
  virtual void changed(std::span<const Inode> inodes) = 0;
};

/// The files as the processes of one node see them.
///
/// Thread-safe: faces call from several threads. No call but flush, fsync, and what the servers
/// have to be asked for waits for the network. Every call ends in bounded time: a server that does
/// not answer is EIO or ETIMEDOUT, and the log names it.
///
/// Permissions are not checked here: the kernel does it on the mount (default_permissions), where
/// the preload opens its files too. Names are single path components, neither empty nor "." or
/// ".." nor with '/' in them: EINVAL; longer than kLongestName: ENAMETOOLONG.
///
/// A file lives as long as it has a name or is open on any node.
class NodeFiles {
 public:
  virtual ~NodeFiles() = default;

  /// ENOENT, ENOTDIR.
  virtual Outcome<Attributes> lookup(Inode folder, std::string_view name) = 0;
  /// ENOENT (ESTALE for a number that no file has any more).
  virtual Outcome<Attributes> getattr(Inode inode) = 0;
  /// Changing the size waits for what is gathered of that file.
  virtual Outcome<Attributes> setattr(Inode inode, const Changes& changes) = 0;

  /// Makes a regular file and opens it; EEXIST whether or not `flags` has O_EXCL: the face looks
  /// the name up first, or opens what it finds then. `flags` are those of open(2).
  virtual Outcome<Opened> create(Inode folder, std::string_view name, const NewFile& file,
                                 int flags) = 0;
  virtual Outcome<Attributes> mkdir(Inode folder, std::string_view name, const NewFile& file) = 0;
  /// A regular file, FIFO, socket or device file, without opening it.
  virtual Outcome<Attributes> mknod(Inode folder, std::string_view name, const NewFile& file) = 0;
  virtual Outcome<Attributes> symlink(Inode folder, std::string_view name, std::string_view target,
                                      const NewFile& file) = 0;
  virtual Outcome<std::string> readlink(Inode inode) = 0;
  /// Another name for a file that is no folder (EPERM).
  virtual Outcome<Attributes> link(Inode inode, Inode folder, std::string_view name) = 0;
  virtual Done unlink(Inode folder, std::string_view name) = 0;
  virtual Done rmdir(Inode folder, std::string_view name) = 0;
  /// `flags`: 0, RENAME_NOREPLACE or RENAME_EXCHANGE (EINVAL for others).
  virtual Done rename(Inode from, std::string_view name, Inode to, std::string_view new_name,
                      unsigned flags) = 0;

  /// Opens a regular file. O_TRUNC cuts it; O_APPEND and O_SYNC, O_DSYNC hold for its writes, which
  /// wait for the servers then; O_CREAT and O_EXCL are the face's.
  virtual Outcome<Opened> open(Inode inode, int flags) = 0;
  /// Forgets the handle, behind the last flush; what is gathered is sent all the same.
  virtual void release(Handle handle) = 0;
  /// The barrier of close(2): returns when the servers' kernels have every byte that was written to
  /// this file on this node before the call. The first error since this handle was told of one, or
  /// opened; each handle is told of an error once.
  virtual Done flush(Handle handle) = 0;
  /// The same, and what has arrived is on the servers' disks.
  virtual Done fsync(Handle handle, bool data_only) = 0;

  /// Gathers: copies `bytes` and returns. Waits only where the memory for what is gathered is
  /// full, or the handle's flags ask for it. `origin` is the process that writes, for the report.
  /// Writes all or nothing: the number of bytes, or an error of an earlier write of this file that
  /// this handle was not told of (flush still tells of it). With O_APPEND `offset` does not matter.
  virtual Outcome<size_t> write(Handle handle, uint64_t offset, std::span<const std::byte> bytes,
                                pid_t origin) = 0;
  /// Reads what any process of this node has written, and what other nodes have flushed. Fewer
  /// bytes than asked for only at the end of the file.
  virtual Outcome<size_t> read(Handle handle, uint64_t offset, std::span<std::byte> bytes) = 0;
  /// EOPNOTSUPP for a `mode` that is not served; callers fall back on writing.
  virtual Done fallocate(Handle handle, int mode, uint64_t offset, uint64_t length) = 0;
  /// The offset of the next data or hole from `offset` on; ENXIO at or behind the end.
  virtual Outcome<uint64_t> seek(Handle handle, uint64_t offset, Part part) = 0;

  /// Gives the entries behind `cursor` (0: all) to `take` until it returns false. Names that are
  /// there from the first call to the last come exactly once, whatever else is made or removed.
  /// `take` must not call into this object.
  virtual Done readdir(Inode folder, uint64_t cursor,
                       const std::function<bool(const Entry&)>& take) = 0;
  virtual Outcome<Space> statfs() = 0;

  /// ENODATA where there is none. `flags`: XATTR_CREATE, XATTR_REPLACE.
  virtual Outcome<std::string> getxattr(Inode inode, std::string_view name) = 0;
  virtual Done setxattr(Inode inode, std::string_view name, std::string_view value, int flags) = 0;
  virtual Outcome<std::vector<std::string>> listxattr(Inode inode) = 0;
  virtual Done removexattr(Inode inode, std::string_view name) = 0;

  /// Until when no other node changes attributes or entries of these (ns of CLOCK_BOOTTIME); 0: it
  /// may at any time. What this node changes of them is told to the watcher, but for bytes that are
  /// written and sizes that follow from those, of which the faces know.
  virtual int64_t watch(std::span<const Inode> inodes) = 0;
  /// Once, before anything is changed.
  virtual void set_watcher(std::shared_ptr<ChangeWatcher> watcher) = 0;
};

/// Something of these files changes while this lives. `watcher` may be null.
class Telling {
 public:
  Telling(const std::shared_ptr<ChangeWatcher>& watcher, std::vector<Inode> inodes)
      : watcher_(watcher.get()), inodes_(std::move(inodes)) {
    if (watcher_) watcher_->changing(inodes_);
  }
  ~Telling() {
    if (watcher_) watcher_->changed(inodes_);
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  ChangeWatcher* watcher_;
  std::vector<Inode> inodes_;
};

}  // namespace haichi::gasfs
