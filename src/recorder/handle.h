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

}  // namespace haichi::recorder
