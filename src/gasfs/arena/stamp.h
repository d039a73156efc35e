// In which order records of several processes were written.
//
// Where records overlap the later one must win, also if a process wrote it because it had heard
// from another that the first was written. A counter that all share gives that order, and costs a
// cache line that goes from processor to processor; the processors' clock costs nothing and gives
// it too, where the kernel trusts it across processors.
#pragma once

#include <atomic>
#include <cstdint>

#include "gasfs/arena/layout.h"

namespace haichi::gasfs::arena {

/// Whether the kernel keeps the time of the node by the processors' clock.
bool processor_clock_trusted();

/// Not before any stamp whose record this thread can have heard of.
inline uint64_t next_stamp(Bell& bell, bool counted) {
#if defined(__x86_64__)
  if (!counted) {
    uint32_t low, high;
    // Not before earlier loads are done.
    asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return uint64_t{high} << 32 | low;
  }
#else
  (void)counted;
#endif
  return bell.stamps.fetch_add(1, std::memory_order_acq_rel) + 1;
}

/// A stamp such that all records with it or an earlier one are seen by who reads the tails now, or
/// are still being written.
inline uint64_t last_stamp(Bell& bell, bool counted) {
#if defined(__x86_64__)
  if (!counted) {
    const uint64_t stamp = next_stamp(bell, false);
    asm volatile("lfence" : : : "memory");
    return stamp;
  }
#else
  (void)counted;
#endif
  return bell.stamps.load(std::memory_order_acquire);
}

}  // namespace haichi::gasfs::arena
