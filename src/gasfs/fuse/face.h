// What the requests of a FUSE mount are answered from, and what must come before each of them.
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include <span>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs::fuse {

/// What stands beside a mount and writes to the same files (the preload's arena), so that the
/// processes of a node see one order of all that they do. Called from the mount's threads.
class Beside {
 public:
  virtual ~Beside() = default;
  /// Before each request: what programs have written by the other face is written to the files.
  virtual void settle() = 0;
  /// A program that has a file open asks by ioctl(2) what lets it write by the other face. Fills
  /// `reply` (gasfs/arena/attach.h); an errno value if it can't.
  virtual int attach(Inode inode, Handle handle, int flags, uid_t uid, std::span<char> reply) = 0;
  /// The handle is about to be released.
  virtual void forget(Handle handle) = 0;
  /// The kernel keeps pages of this file, because a program has mapped it: only what goes through
  /// the kernel is coherent with those.
  virtual void mapped(Inode inode) = 0;
};

/// The user data of the session. `beside` may be null.
struct Face {
  NodeFiles& files;
  Beside* beside;
};

/// The face behind a request, with the other one settled.
inline Face& face_of(fuse_req_t request) {
  Face& face = *static_cast<Face*>(fuse_req_userdata(request));
  if (face.beside) face.beside->settle();
  return face;
}

/// As the kernel asks for it: what a program of the same node may do elsewhere on other nodes makes
/// any lasting answer wrong.
inline constexpr double kValidSeconds = 0;

struct stat as_stat(const Attributes& attributes);

/// The parts of the table of operations, each filled by its file.
void add_name_requests(fuse_lowlevel_ops& operations);
void add_attribute_requests(fuse_lowlevel_ops& operations);
void add_file_requests(fuse_lowlevel_ops& operations);

}  // namespace haichi::gasfs::fuse
