// Requests about open files.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <memory>

#include "gasfs/arena/attach.h"
#include "gasfs/fuse/face.h"
#include "gasfs/fuse/kernel_words.h"

namespace haichi::gasfs::fuse {
namespace {

// O_CREAT and O_EXCL are dealt with by the kernel's look-up, the others say nothing of the file.
constexpr int kFlagsOfFile = O_ACCMODE | O_APPEND | O_SYNC | O_DSYNC | O_TRUNC;

constexpr size_t kCopiedAtOnce = 4 << 20;  // bytes

// Beside the handle: that it was opened to append.
constexpr uint64_t kAppends = uint64_t{1} << 63;

Handle handle_of(const fuse_file_info* info) { return info->fh & ~kAppends; }

/// What the kernel shall know of an open file. Nothing is kept in its page cache (direct_io), but
/// for a program that maps the file.
void describe(Face& face, fuse_file_info& info, const Opened& opened) {
  const Handle handle = opened.handle;
  if (face.beside) face.beside->opened(opened.attributes.inode);
  info.fh = handle | ((info.flags & O_APPEND) ? kAppends : 0);
  info.direct_io = 1;
  // Whoever only reads has nothing to wait for, nor to be told.
  if ((info.flags & O_ACCMODE) == O_RDONLY) info.noflush = 1;
}

void release(Face& face, const Opened& opened) {
  if (face.beside) face.beside->forget(opened.attributes.inode, opened.handle);
  face.files.release(opened.handle);
}

Outcome<Opened> open_file(Face& face, Inode inode, int flags) {
  if (!(flags & O_TRUNC)) return face.files.open(inode, flags);
  const Changing cut(face.beside, inode);
  return face.files.open(inode, flags);
}

void on_create(fuse_req_t request, fuse_ino_t folder, const char* name, mode_t mode,
               fuse_file_info* info) {
  Face& face = face_of(request);
  const fuse_ctx* const caller = fuse_req_ctx(request);
  const NewFile file{.mode = mode, .uid = caller->uid, .gid = caller->gid};
  const int flags = info->flags & kFlagsOfFile;
  auto opened = face.files.create(folder, name, file, flags);
  if (!opened && opened.error() == EEXIST && !(info->flags & O_EXCL)) {
    // Another node, or a thread of this one, made it since the kernel looked.
    const auto found = face.files.lookup(folder, name);
    opened = found ? open_file(face, found->inode, flags) : tl::unexpected<int>(found.error());
  }
  if (!opened) {
    fuse_reply_err(request, error_of_name(opened.error()));
    return;
  }
  fuse_entry_param entry{};
  entry.ino = opened->attributes.inode;
  entry.attr = as_stat(opened->attributes);
  entry.attr_timeout = entry.entry_timeout = kValidSeconds;
  describe(face, *info, *opened);
  // The program was interrupted and knows nothing of the file that is open now.
  if (fuse_reply_create(request, &entry, info) == -ENOENT) release(face, *opened);
}

void on_open(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  Face& face = face_of(request);
  const auto opened = open_file(face, inode, info->flags & kFlagsOfFile);
  if (!opened) {
    fuse_reply_err(request, opened.error());
    return;
  }
  describe(face, *info, *opened);
  if (fuse_reply_open(request, info) == -ENOENT) release(face, *opened);
}

void on_release(fuse_req_t request, fuse_ino_t inode, fuse_file_info* info) {
  release(face_of(request), {.attributes = {.inode = inode}, .handle = handle_of(info)});
  fuse_reply_err(request, 0);
}

/// The error of what was written by the other face comes first: it was written before.
void reply_flushed(fuse_req_t request, Face& face, Handle handle, const Done& done) {
  const int earlier = face.beside ? face.beside->take_error(handle) : 0;
  fuse_reply_err(request, earlier ? earlier : done ? 0 : done.error());
}

void on_flush(fuse_req_t request, fuse_ino_t, fuse_file_info* info) {
  Face& face = face_of(request);
  reply_flushed(request, face, handle_of(info), face.files.flush(handle_of(info)));
}

void on_fsync(fuse_req_t request, fuse_ino_t, int data_only, fuse_file_info* info) {
  Face& face = face_of(request);
  reply_flushed(request, face, handle_of(info), face.files.fsync(handle_of(info), data_only != 0));
}

void on_fsyncdir(fuse_req_t request, fuse_ino_t, int, fuse_file_info*) {
  fuse_reply_err(request, 0);  // names are the server's as soon as a call has returned
}

void on_read(fuse_req_t request, fuse_ino_t inode, size_t size, off_t offset,
             fuse_file_info* info) {
  Face& face = face_of(request);
  // Read by the kernel for its page cache and not by a program for itself.
  if (face.beside && info->lock_owner == 0) face.beside->mapped(inode);
  const std::unique_ptr<char[]> bytes(new char[size]);
  const auto got = face.files.read(handle_of(info), uint64_t(offset),
                                   std::as_writable_bytes(std::span(bytes.get(), size)));
  if (got) {
    fuse_reply_buf(request, bytes.get(), *got);
  } else {
    fuse_reply_err(request, got.error());
  }
}

/// Takes set-user-ID and set-group-ID bits off a file.
void take_privileges_off(Face& face, Inode inode) {
  const auto is = face.files.getattr(inode);
  const auto mode = is ? mode_without_privileges(is->mode) : std::nullopt;
  if (mode) (void)face.files.setattr(inode, {.mode = *mode});
}

/// The same for a request with which the kernel says nothing of it and leaves it to us: who may
/// keep such bits (CAP_FSETID) is not told, so it is root.
void take_privileges_off_unless_root(fuse_req_t request, Face& face, Inode inode) {
  if (fuse_req_ctx(request)->uid != 0) take_privileges_off(face, inode);
}

/// Writes by a handle of its own.
Outcome<size_t> write_beside(NodeFiles& files, Inode inode, int flags, uint64_t offset,
                             std::span<const std::byte> bytes, pid_t writer) {
  const auto opened = files.open(inode, O_WRONLY | flags);
  if (!opened) return tl::unexpected<int>(opened.error());
  const auto written = files.write(opened->handle, offset, bytes, writer);
  files.release(opened->handle);
  return written;
}

void on_write(fuse_req_t request, fuse_ino_t inode, const char* data, size_t size, off_t offset,
              fuse_file_info* info) {
  Face& face = face_of(request);
  if (face.beside && info->writepage) face.beside->mapped(inode);
  if (kill_privileges_wanted()) take_privileges_off(face, inode);
  const auto bytes = std::as_bytes(std::span(data, size));
  const pid_t writer = fuse_req_ctx(request)->pid;
  // With a page that a program has mapped comes any handle that may write, perhaps one that
  // appends; and fcntl(2) may have changed whether the program's own does.
  const int appends = info->writepage ? 0 : info->flags & O_APPEND;
  const bool as_opened = !info->writepage && (appends != 0) == ((info->fh & kAppends) != 0);
  const Changing change(face.beside, inode);
  const auto written =
      as_opened ? face.files.write(handle_of(info), uint64_t(offset), bytes, writer)
                : write_beside(face.files, inode, appends, uint64_t(offset), bytes, writer);
  if (written) {
    fuse_reply_write(request, *written);
  } else {
    fuse_reply_err(request, written.error());
  }
}

void on_fallocate(fuse_req_t request, fuse_ino_t inode, int mode, off_t offset, off_t length,
                  fuse_file_info* info) {
  Face& face = face_of(request);
  take_privileges_off_unless_root(request, face, inode);
  const Changing change(face.beside, inode);
  const auto done = face.files.fallocate(handle_of(info), mode, uint64_t(offset), uint64_t(length));
  fuse_reply_err(request, done ? 0 : done.error());
}

void on_lseek(fuse_req_t request, fuse_ino_t, off_t offset, int whence, fuse_file_info* info) {
  const Part part = whence == SEEK_DATA ? Part::data : Part::hole;
  const auto found = face_of(request).files.seek(handle_of(info), uint64_t(offset), part);
  if (found) {
    fuse_reply_lseek(request, off_t(*found));
  } else {
    fuse_reply_err(request, found.error());
  }
}

/// One part of what copy_file_range(2) is asked for; the kernel comes again for the rest.
void on_copy_file_range(fuse_req_t request, fuse_ino_t, off_t from, fuse_file_info* source,
                        fuse_ino_t target_inode, off_t to, fuse_file_info* target, size_t size,
                        int) {
  Face& face = face_of(request);
  const size_t part = std::min(size, kCopiedAtOnce);
  const std::unique_ptr<std::byte[]> bytes(new std::byte[part]);
  auto copied = face.files.read(handle_of(source), uint64_t(from), {bytes.get(), part});
  if (copied && *copied > 0) {
    take_privileges_off_unless_root(request, face, target_inode);
    const Changing change(face.beside, target_inode);
    copied = face.files.write(handle_of(target), uint64_t(to), {bytes.get(), *copied},
                              fuse_req_ctx(request)->pid);
  }
  if (copied) {
    fuse_reply_write(request, *copied);
  } else {
    fuse_reply_err(request, copied.error());
  }
}

void on_ioctl(fuse_req_t request, fuse_ino_t inode, unsigned command, void*, fuse_file_info* info,
              unsigned flags, const void*, size_t, size_t room) {
  Face& face = face_of(request);
  std::array<char, sizeof(arena::Attachment)> reply{};
  const bool writes = command == arena::kAttachToWrite;
  const bool finds = command == arena::kFindSocket;
  // A folder has no handle that could have a ticket.
  const bool known =
      finds || ((flags & FUSE_IOCTL_DIR) == 0 && (command == arena::kAttach || writes));
  if (!face.beside || !known || room < reply.size()) {
    fuse_reply_err(request, ENOTTY);
    return;
  }
  const int failed = finds ? face.beside->tell_socket(reply)
                           : face.beside->attach(inode, handle_of(info), writes, reply);
  if (failed) {
    fuse_reply_err(request, failed);
  } else {
    fuse_reply_ioctl(request, 0, reply.data(), reply.size());
  }
}

}  // namespace

void add_file_requests(fuse_lowlevel_ops& operations) {
  operations.create = on_create;
  operations.open = on_open;
  operations.release = on_release;
  operations.flush = on_flush;
  operations.fsync = on_fsync;
  operations.fsyncdir = on_fsyncdir;
  operations.read = on_read;
  operations.write = on_write;
  operations.fallocate = on_fallocate;
  operations.lseek = on_lseek;
  operations.copy_file_range = on_copy_file_range;
  operations.ioctl = on_ioctl;
}

}  // namespace haichi::gasfs::fuse
