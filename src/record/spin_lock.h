// A lock for some nanoseconds of work. Who waits for long gives the processor away: the holder may
// have lost its own.
#pragma once

#include <sched.h>

#include <atomic>

namespace haichi::record {

class SpinLock {
 public:
  void lock() {
    for (int tries = 1; taken_.exchange(true, std::memory_order_acquire); ++tries)
      if (tries % 64 == 0) sched_yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_ = false;
};

}  // namespace haichi::record
