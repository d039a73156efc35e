// Memory between a file and the user's, where that is not contiguous.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace haichi::mpi {

/// Some of it is always there, however little memory there is left: who needs it is past the point
/// where it could refuse.
class BounceMemory {
 public:
  /// As much as is useful, for an access of `bytes`; 0: none is needed.
  explicit BounceMemory(int64_t bytes)
      : size_(size_t(std::min(kUseful, bytes))), memory_(new (std::nothrow) std::byte[size_]) {}
  std::span<std::byte> span() {
    return memory_ ? std::span(memory_.get(), size_) : std::span(little_);
  }

 private:
  // Larger parts would leave the processor's cache between being packed and being written.
  static constexpr int64_t kUseful = 1 << 20;
  const size_t size_;
  const std::unique_ptr<std::byte[]> memory_;
  std::array<std::byte, 4096> little_;
};

}  // namespace haichi::mpi
