// Counts what a test program asks memory for: by its own operator new, so one source file of a
// program may include this.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace haichi {

inline std::atomic<int64_t> g_allocations = 0;
inline std::atomic<int64_t> g_allocated_bytes = 0;

/// Memory that was asked for since its construction, whether given back or not.
class AllocationMeter {
 public:
  int64_t bytes() const { return g_allocated_bytes - bytes_; }
  int64_t allocations() const { return g_allocations - allocations_; }

 private:
  int64_t bytes_ = g_allocated_bytes;
  int64_t allocations_ = g_allocations;
};

inline void* counted_allocation(size_t size) {
  ++g_allocations;
  g_allocated_bytes += int64_t(size);
  if (void* memory = std::malloc(size ? size : 1)) return memory;
  std::abort();
}

}  // namespace haichi

void* operator new(size_t size) { return haichi::counted_allocation(size); }
void* operator new[](size_t size) { return haichi::counted_allocation(size); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return haichi::counted_allocation(size);
}
void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return haichi::counted_allocation(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
