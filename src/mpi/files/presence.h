// That a handle, or a thread, may write to a file without a lock, made known to all who might fill
// holes of the file. See "Who may fill holes" in docs/notes.md.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "mpi/files/descriptors.h"

namespace haichi::mpi {

class Presence {
 public:
  /// Null if there is no regular file of that name, it cannot be opened, or its file system has no
  /// locks. Waits for holes that are being filled now, some milliseconds.
  static std::unique_ptr<Presence> enter(const char* path);
  /// True if this process had no descriptor to spare for one: handles of the same file, whose last
  /// rank it is, must then fill no holes.
  static bool some_unknown();
  ~Presence();
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;

  /// Drawn at random, from 1 on.
  int64_t slot() const { return slot_; }

 private:
  Presence(int fd, int64_t slot, DescriptorShare share)
      : fd_(fd), slot_(slot), share_(std::move(share)) {}
  const int fd_;
  const int64_t slot_;
  const DescriptorShare share_;
};

}  // namespace haichi::mpi
