// The clocks of haichi, in nanoseconds.
#pragma once

#include <time.h>

#include <cstdint>

namespace haichi {

inline int64_t clock_ns(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

/// The monotonic clock; comparable within one host only.
inline int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }
/// For how long this thread has run, and this process. Costs a system call.
inline int64_t thread_cpu_ns() { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }
inline int64_t process_cpu_ns() { return clock_ns(CLOCK_PROCESS_CPUTIME_ID); }

}  // namespace haichi
