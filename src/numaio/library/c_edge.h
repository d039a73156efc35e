// What the functions of a C interface have in common: errno in place of negative values, and no
// exception past them.
#pragma once

#include <errno.h>
#include <sys/types.h>

#include <cstdint>
#include <new>

#define HAICHI_EXPORTED extern "C" __attribute__((visibility("default")))

namespace haichi::numaio {

inline ssize_t as_system_call(int64_t result) {
  if (result >= 0) return ssize_t(result);
  errno = int(-result);
  return -1;
}

/// What memory can't be had for is done without it.
template <class Try, class Instead>
auto without_exception(const Try& attempt, const Instead& instead) {
  try {
    return attempt();
  } catch (const std::bad_alloc&) {
    return instead();
  }
}

}  // namespace haichi::numaio
