// How many of a process's file descriptors haichi may have. The program and its MPI library come
// first: whoever opens as many files as the limit allows does so with haichi, too, or nearly.
#pragma once

#include <optional>
#include <utility>

namespace haichi::mpi {

/// The right to keep one descriptor open, given back when it goes.
class DescriptorShare {
 public:
  enum Use {
    access,    ///< to access a file by
    presence,  ///< at the last rank of a file, to make known that it may be written
    uses
  };
  /// For a descriptor of that number. Nothing if haichi has for that use a 32nd of those that the
  /// process may have, or if three quarters of them are taken.
  static std::optional<DescriptorShare> take(int fd, Use use);
  DescriptorShare(DescriptorShare&& other) noexcept
      : use_(other.use_), held_(std::exchange(other.held_, false)) {}
  DescriptorShare& operator=(DescriptorShare&&) = delete;
  ~DescriptorShare();

 private:
  explicit DescriptorShare(Use use) : use_(use) {}
  const Use use_;
  bool held_ = true;
};

}  // namespace haichi::mpi
