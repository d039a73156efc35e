// Requests about names and folders.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <span>
#include <vector>

#include "gasfs/fuse/face.h"

namespace haichi::gasfs::fuse {
namespace {

void reply_entry(fuse_req_t request, const Outcome<Attributes>& found) {
  if (!found) {
    fuse_reply_err(request, error_of_name(found.error()));
    return;
  }
  Face& face = face_as_it_is(request);
  face.remembered.told(*found);
  fuse_entry_param entry{};
  entry.ino = found->inode;
  entry.attr = as_stat(*found);
  entry.attr_timeout = entry.entry_timeout = kValidSeconds;
  // The program was interrupted, and the kernel has taken nothing.
  if (fuse_reply_entry(request, &entry) == -ENOENT) face.remembered.forget(found->inode, 1);
}

void reply_done(fuse_req_t request, const Done& done) {
  fuse_reply_err(request, done ? 0 : error_of_name(done.error()));
}

NewFile new_file(fuse_req_t request, mode_t mode, dev_t device = 0) {
  const fuse_ctx* const caller = fuse_req_ctx(request);  // the kernel has taken the umask off
  return {.mode = mode, .uid = caller->uid, .gid = caller->gid, .device = device};
}

void on_lookup(fuse_req_t request, fuse_ino_t folder, const char* name) {
  reply_entry(request, face_of(request).files.lookup(folder, name));
}

void on_mknod(fuse_req_t request, fuse_ino_t folder, const char* name, mode_t mode, dev_t device) {
  Face& face = face_of(request);
  reply_entry(request, face.files.mknod(folder, name, new_file(request, mode, device)));
}

void on_mkdir(fuse_req_t request, fuse_ino_t folder, const char* name, mode_t mode) {
  reply_entry(request, face_of(request).files.mkdir(folder, name, new_file(request, mode)));
}

void on_symlink(fuse_req_t request, const char* target, fuse_ino_t folder, const char* name) {
  Face& face = face_of(request);
  reply_entry(request, face.files.symlink(folder, name, target, new_file(request, 0777)));
}

void on_link(fuse_req_t request, fuse_ino_t inode, fuse_ino_t folder, const char* name) {
  reply_entry(request, face_of(request).files.link(inode, folder, name));
}

void on_unlink(fuse_req_t request, fuse_ino_t folder, const char* name) {
  reply_done(request, face_of(request).files.unlink(folder, name));
}

void on_rmdir(fuse_req_t request, fuse_ino_t folder, const char* name) {
  reply_done(request, face_of(request).files.rmdir(folder, name));
}

void on_rename(fuse_req_t request, fuse_ino_t from, const char* name, fuse_ino_t to,
               const char* new_name, unsigned flags) {
  reply_done(request, face_of(request).files.rename(from, name, to, new_name, flags));
}

void on_readlink(fuse_req_t request, fuse_ino_t inode) {
  const auto target = face_of(request).files.readlink(inode);
  if (target) {
    fuse_reply_readlink(request, target->c_str());
  } else {
    fuse_reply_err(request, target.error());
  }
}

/// What one answer to readdir has room for.
class Listing {
 public:
  Listing(fuse_req_t request, size_t room) : request_(request), bytes_(room) {}

  bool add(const char* name, Inode inode, mode_t type, uint64_t cursor) {
    struct stat about{};
    about.st_ino = inode;
    about.st_mode = type;
    const size_t room = bytes_.size() - used_;
    const size_t needs =
        fuse_add_direntry(request_, bytes_.data() + used_, room, name, &about, off_t(cursor));
    if (needs > room) return false;
    used_ += needs;
    return true;
  }
  void reply() { fuse_reply_buf(request_, bytes_.data(), used_); }

 private:
  fuse_req_t request_;
  std::vector<char> bytes_;
  size_t used_ = 0;
};

void on_readdir(fuse_req_t request, fuse_ino_t folder, size_t room, off_t offset, fuse_file_info*) {
  Face& face = face_of(request);
  Listing listing(request, room);
  auto cursor = uint64_t(offset);
  // The kernel knows which folder is above this one; of ".." only the name counts.
  if (cursor < 1 && listing.add(".", folder, S_IFDIR, 1)) cursor = 1;
  if (cursor == 1 && listing.add("..", kRoot, S_IFDIR, kFirstCursor)) cursor = kFirstCursor;
  std::string name;
  const Done done = face.files.readdir(folder, cursor, [&](const Entry& entry) {
    name = entry.name;
    return listing.add(name.c_str(), entry.inode, entry.type, entry.cursor);
  });
  if (done || error_of_name(done.error()) == ENOENT) {
    listing.reply();
  } else {
    fuse_reply_err(request, done.error());
  }
}

void on_forget(fuse_req_t request, fuse_ino_t inode, uint64_t answers) {
  face_as_it_is(request).remembered.forget(inode, answers);
  fuse_reply_none(request);
}

void on_forget_multi(fuse_req_t request, size_t count, fuse_forget_data* all) {
  Face& face = face_as_it_is(request);
  for (const fuse_forget_data& each : std::span(all, count)) {
    face.remembered.forget(each.ino, each.nlookup);
  }
  fuse_reply_none(request);
}

}  // namespace

void add_name_requests(fuse_lowlevel_ops& operations) {
  operations.lookup = on_lookup;
  operations.forget = on_forget;
  operations.forget_multi = on_forget_multi;
  operations.mknod = on_mknod;
  operations.mkdir = on_mkdir;
  operations.symlink = on_symlink;
  operations.link = on_link;
  operations.unlink = on_unlink;
  operations.rmdir = on_rmdir;
  operations.rename = on_rename;
  operations.readlink = on_readlink;
  operations.readdir = on_readdir;
}

}  // namespace haichi::gasfs::fuse
