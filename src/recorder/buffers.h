// Whether a program's buffer takes part in communication for the first time: the library may have
// to register it, and its pages may not be there yet.
#pragma once

#include <array>
#include <cstdint>

namespace haichi::recorder {

/// Remembers some thousand buffers by their first page. Not thread-safe.
class Buffers {
 public:
  /// Of little, nobody cares.
  bool first_use(const void* begin, int64_t bytes) {
    const uint64_t page = reinterpret_cast<uintptr_t>(begin) / kPage;
    if (bytes < kPage) return false;
    uint64_t& known = known_[(page * 0x9e3779b97f4a7c15u >> 40) % known_.size()];
    const bool first = known != page;
    known = page;
    return first;
  }

 private:
  static constexpr int64_t kPage = 4096;
  std::array<uint64_t, 8192> known_ = {};
};

}  // namespace haichi::recorder
