// The one clock of haichi.
#pragma once

#include <time.h>

#include <cstdint>

namespace haichi {

/// Nanoseconds of the monotonic clock; comparable within one host only.
inline int64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

}  // namespace haichi
