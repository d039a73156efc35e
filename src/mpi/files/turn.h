// The library's nonblocking calls of a file, kept apart from haichi's collective accesses of it.
#pragma once

#include <memory>
#include <mutex>

namespace haichi::mpi {

/// As long as it lasts, no thread of this process makes the other kind of call of the file. Open
/// MPI's own collective accesses lock the file against other threads' calls, and have to: its
/// progress (up to 5.0) walks the list of nonblocking requests without a lock, while these add to
/// it. Empty where nobody needs it.
class Turn {
 public:
  Turn() = default;
  /// `owner` keeps the mutex alive.
  Turn(std::shared_ptr<const void> owner, std::mutex& mutex)
      : owner_(std::move(owner)), lock_(mutex) {}

 private:
  std::shared_ptr<const void> owner_;
  std::unique_lock<std::mutex> lock_;
};

}  // namespace haichi::mpi
