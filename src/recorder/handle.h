// MPI handles as numbers: integers in one library, pointers in another.
#pragma once

#include <cstdint>
#include <cstring>

namespace haichi::recorder {

template <class Handle>
uint64_t bits(Handle handle) {
  static_assert(sizeof handle <= sizeof(uint64_t));
  uint64_t number = 0;
  memcpy(&number, &handle, sizeof handle);
  return number;
}

/// False where nobody has memory: MPI libraries refuse such pointers and do not read there.
inline bool may_be_read(const void* pointer) {
  constexpr uintptr_t kFirstPage = 4096;
  return reinterpret_cast<uintptr_t>(pointer) >= kFirstPage;
}

}  // namespace haichi::recorder
