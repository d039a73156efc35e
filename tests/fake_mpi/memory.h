// Memory that is refused: operator new of the test's program.
#pragma once

#include <cstdint>

namespace haichi::test {

/// From here on allocations are counted; the `refused`th is refused, counted from 0, or none if
/// that is negative.
void watch_memory(int64_t refused);
/// What the fake library itself allocates is neither counted nor refused.
class MemoryOfLibrary {
 public:
  MemoryOfLibrary();
  ~MemoryOfLibrary();
  MemoryOfLibrary(const MemoryOfLibrary&) = delete;
  MemoryOfLibrary& operator=(const MemoryOfLibrary&) = delete;
};
/// Returns how many there were.
int64_t stop_watching_memory();

}  // namespace haichi::test
