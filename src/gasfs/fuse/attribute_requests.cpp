// Requests about attributes, plain and extended, and of the file system as a whole.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "gasfs/fuse/face.h"
#include "gasfs/fuse/kernel_words.h"

namespace haichi::gasfs::fuse {
namespace {

// The C library makes a stream's buffer as large as this, so each of its requests carries more.
constexpr blksize_t kGoodSize = 128 << 10;

void reply_attributes(fuse_req_t request, Face& face, const Outcome<Attributes>& found) {
  if (found) {
    face.remembered.update(*found);
    const struct stat about = as_stat(*found);
    fuse_reply_attr(request, &about, kValidSeconds);
  } else {
    fuse_reply_err(request, found.error());
  }
}

void on_getattr(fuse_req_t request, fuse_ino_t inode, fuse_file_info*) {
  Face& face = face_of(request);
  const auto found = face.files.getattr(inode);
  const bool is_gone = !found && (found.error() == ESTALE || found.error() == ENOENT);
  const auto was = is_gone ? face.remembered.gone(inode) : std::nullopt;
  reply_attributes(request, face, was ? Outcome<Attributes>(*was) : found);
}

void on_setattr(fuse_req_t request, fuse_ino_t inode, struct stat* wanted, int which,
                fuse_file_info*) {
  Face& face = face_of(request);
  Changes changes;
  if (which & FUSE_SET_ATTR_MODE) changes.mode = wanted->st_mode & 07777;
  if (which & FUSE_SET_ATTR_UID) changes.uid = wanted->st_uid;
  if (which & FUSE_SET_ATTR_GID) changes.gid = wanted->st_gid;
  if (which & FUSE_SET_ATTR_SIZE) changes.size = uint64_t(wanted->st_size);
  const timespec now{0, UTIME_NOW};
  if (which & FUSE_SET_ATTR_ATIME) changes.accessed = wanted->st_atim;
  if (which & FUSE_SET_ATTR_ATIME_NOW) changes.accessed = now;
  if (which & FUSE_SET_ATTR_MTIME) changes.modified = wanted->st_mtim;
  if (which & FUSE_SET_ATTR_MTIME_NOW) changes.modified = now;
  // Of chown(2) with -1 twice the kernel says no more than that it is asked for something.
  const bool owner_changes = changes.uid || changes.gid || which == 0;
  if ((owner_changes || kill_privileges_wanted()) && !changes.mode) {
    const auto is = face.files.getattr(inode);
    if (is) changes.mode = mode_without_privileges(is->mode);
  }
  const Changing change(changes.size ? face.beside : nullptr, inode);
  reply_attributes(request, face, face.files.setattr(inode, changes));
}

void on_statfs(fuse_req_t request, fuse_ino_t) {
  const auto space = face_of(request).files.statfs();
  if (!space) {
    fuse_reply_err(request, space.error());
    return;
  }
  struct statvfs about{};
  about.f_bsize = about.f_frsize = space->block_size;
  about.f_blocks = space->blocks;
  about.f_bfree = about.f_bavail = space->free_blocks;
  about.f_files = space->files;
  about.f_ffree = about.f_favail = space->free_files;
  about.f_namemax = kLongestName;
  fuse_reply_statfs(request, &about);
}

/// Replies with a text of which the program may ask the length only.
void reply_text(fuse_req_t request, std::string_view text, size_t room) {
  if (room == 0) {
    fuse_reply_xattr(request, text.size());
  } else if (text.size() > room) {
    fuse_reply_err(request, ERANGE);
  } else {
    fuse_reply_buf(request, text.data(), text.size());
  }
}

/// Refuses what is no attribute's name. Access control lists are attributes that decide: kept as if
/// they did not, they would deceive those who set them in place of permissions.
bool refuse_name(fuse_req_t request, std::string_view name) {
  const size_t point = name.find('.');
  const std::string_view space = name.substr(0, point);
  const bool known = space == "user" || space == "trusted" || space == "security";
  if (known && point + 1 < name.size()) return false;
  fuse_reply_err(request, known && point != name.npos ? EINVAL : EOPNOTSUPP);
  return true;
}

void on_getxattr(fuse_req_t request, fuse_ino_t inode, const char* name, size_t room) {
  if (refuse_name(request, name)) return;
  const auto value = face_of(request).files.getxattr(inode, name);
  if (value) {
    reply_text(request, *value, room);
  } else {
    fuse_reply_err(request, value.error());
  }
}

void on_listxattr(fuse_req_t request, fuse_ino_t inode, size_t room) {
  const auto names = face_of(request).files.listxattr(inode);
  if (!names) {
    fuse_reply_err(request, names.error());
    return;
  }
  std::string text;
  for (const std::string& name : *names) text.append(name.c_str(), name.size() + 1);
  reply_text(request, text, room);
}

void on_setxattr(fuse_req_t request, fuse_ino_t inode, const char* name, const char* value,
                 size_t size, int flags) {
  if (refuse_name(request, name)) return;
  const auto done = face_of(request).files.setxattr(inode, name, {value, size}, flags);
  fuse_reply_err(request, done ? 0 : done.error());
}

void on_removexattr(fuse_req_t request, fuse_ino_t inode, const char* name) {
  if (refuse_name(request, name)) return;
  const auto done = face_of(request).files.removexattr(inode, name);
  fuse_reply_err(request, done ? 0 : done.error());
}

/// The time of the last change. The server of names adds a nanosecond each time that it is told
/// again of what was written at one time, so that nodes see a change: programs see none.
timespec shown_change(const Attributes& attributes) {
  const timespec &modified = attributes.modified, &changed = attributes.changed;
  constexpr long kTold = 1000;  // ns
  const bool again = changed.tv_sec == modified.tv_sec && changed.tv_nsec >= modified.tv_nsec &&
                     changed.tv_nsec - modified.tv_nsec < kTold;
  return again ? modified : changed;
}

}  // namespace

struct stat as_stat(const Attributes& attributes) {
  struct stat about{};
  about.st_ino = attributes.inode;
  about.st_mode = attributes.mode;
  about.st_nlink = attributes.links;
  about.st_uid = attributes.uid;
  about.st_gid = attributes.gid;
  about.st_rdev = attributes.device;
  about.st_size = off_t(attributes.size);
  about.st_blocks = blkcnt_t(attributes.blocks);
  about.st_blksize = kGoodSize;
  about.st_atim = attributes.accessed;
  about.st_mtim = attributes.modified;
  about.st_ctim = shown_change(attributes);
  return about;
}

void add_attribute_requests(fuse_lowlevel_ops& operations) {
  operations.getattr = on_getattr;
  operations.setattr = on_setattr;
  operations.statfs = on_statfs;
  operations.getxattr = on_getxattr;
  operations.listxattr = on_listxattr;
  operations.setxattr = on_setxattr;
  operations.removexattr = on_removexattr;
}

}  // namespace haichi::gasfs::fuse
