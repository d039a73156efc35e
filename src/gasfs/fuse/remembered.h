// What the kernel still holds of files that may be gone: a folder that somebody stands in or has
// open, a FIFO, a socket. A regular file is kept by its handle as long as it is open; of these the
// files behind the mount know nothing once their last name is removed, here or on another node, and
// a program that asks about its descriptor of one would be told ESTALE.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "gasfs/files/node_files.h"

namespace haichi::gasfs::fuse {

class Remembered {
 public:
  /// The kernel has been told of the file by one more answer, which it gives back by forget().
  /// Nothing for a regular file.
  void told(const Attributes& attributes);
  /// What there is to say of a file that it was told of, now.
  void update(const Attributes& attributes);
  void forget(Inode inode, uint64_t answers);
  /// What a file that is gone was; nothing if the kernel does not hold it.
  std::optional<Attributes> gone(Inode inode) const;

 private:
  struct Held {
    Attributes attributes;
    uint64_t answers = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<Inode, Held> held_;
};

}  // namespace haichi::gasfs::fuse
