// What a thread does between its calls of MPI: computing, or nothing because others have its
// processor.
//
// Reading the processor time of a thread is a system call. Where a call or what lies between two
// calls is short, its time is taken as it is, as the kernel takes a processor away for longer; at
// the end of what is long the processor time tells how much of the last stretch the thread did run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace haichi::record {

/// One for each thread; plain data, zeros at first. Times are of the monotonic clock.
struct CallClock {
  static constexpr int64_t kLong = 20'000;  // ns

  int64_t last_end_ns;              ///< of the last call; 0: there was none
  int64_t read_at_ns, read_cpu_ns;  ///< when the processor time was read, and what it was

  /// The thread's first call begins now, or what is behind it does not count.
  void start(int64_t now_ns, int64_t (*cpu_ns)() = thread_cpu_ns) {
    last_end_ns = read_at_ns = now_ns;
    read_cpu_ns = cpu_ns();
  }
  /// A call begins: how long the thread has computed since the last one.
  int64_t computed(int64_t now_ns, int64_t (*cpu_ns)() = thread_cpu_ns) {
    if (last_end_ns == 0) start(now_ns, cpu_ns);
    const int64_t gap = now_ns - last_end_ns;
    if (gap <= kLong) return gap;
    const int64_t cpu = cpu_ns();
    const int64_t idle = (now_ns - read_at_ns) - (cpu - read_cpu_ns);
    read_at_ns = now_ns;
    read_cpu_ns = cpu;
    return std::clamp<int64_t>(gap - idle, 0, gap);
  }
  /// The call that began at `begin_ns` is over.
  void over(int64_t begin_ns, int64_t now_ns, int64_t (*cpu_ns)() = thread_cpu_ns) {
    last_end_ns = now_ns;
    if (now_ns - begin_ns <= kLong) return;
    read_cpu_ns = cpu_ns();
    read_at_ns = now_ns;
  }
};

}  // namespace haichi::record
