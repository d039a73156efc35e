// What the requests of a FUSE mount are answered from, and what must come before each of them.
#pragma once

#define FUSE_USE_VERSION 312
#include <errno.h>
#include <fuse3/fuse_lowlevel.h>

#include "gasfs/files/beside.h"
#include "gasfs/files/node_files.h"
#include "gasfs/fuse/remembered.h"

namespace haichi::gasfs::fuse {

/// The user data of the session. `beside` may be null.
struct Face {
  NodeFiles& files;
  Beside* beside;
  Remembered remembered = {};
};

/// The face behind a request, whatever the other one still has to hand over.
inline Face& face_as_it_is(fuse_req_t request) {
  return *static_cast<Face*>(fuse_req_userdata(request));
}

/// The face behind a request, with the other one settled.
inline Face& face_of(fuse_req_t request) {
  Face& face = face_as_it_is(request);
  if (face.beside) face.beside->settle();
  return face;
}

/// As the kernel asks for it: what a program of the same node may do elsewhere on other nodes makes
/// any lasting answer wrong.
inline constexpr double kValidSeconds = 0;

/// Of a request about a name: a folder that is gone, in which somebody still stands, has nothing in
/// it and takes nothing.
inline int error_of_name(int error) { return error == ESTALE ? ENOENT : error; }

struct stat as_stat(const Attributes& attributes);

/// The parts of the table of operations, each filled by its file.
void add_name_requests(fuse_lowlevel_ops& operations);
void add_attribute_requests(fuse_lowlevel_ops& operations);
void add_file_requests(fuse_lowlevel_ops& operations);

}  // namespace haichi::gasfs::fuse
