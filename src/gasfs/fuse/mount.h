// The FUSE mount: the face of a node's files on which every program works, also static ones, mmap
// and exec. libfuse3's low level, direct I/O, and never the kernel's write-back cache, which writes
// whole pages and so loses the records that another node has put into them.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "gasfs/files/node_files.h"
#include "gasfs/fuse/face.h"

namespace haichi::gasfs::fuse {

class Mount {
 public:
  /// Mounts on the folder `where` and answers with `threads` threads of its own until it goes. As
  /// root all users see the mount. `files` and `beside` (which may be null) must outlive it.
  static Result<std::unique_ptr<Mount>> make(const std::string& where, NodeFiles& files,
                                             Beside* beside, int threads = 16);
  /// Unmounts; what is open on it fails with ENOTCONN from then on.
  ~Mount();
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;

  /// Whether somebody else has unmounted it.
  bool ended() const;

 private:
  struct Parts;
  explicit Mount(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace haichi::gasfs::fuse
