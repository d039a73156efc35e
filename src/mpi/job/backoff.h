// Waiting without burning the processor that somebody else needs (docs/adr/0009-waiting.md).
#pragma once

#include <sched.h>
#include <time.h>

namespace haichi::mpi {

/// Call idle() each time a poll found nothing and reset() when it found something: spins shortly,
/// then yields, then sleeps for at most 100 microseconds at a time.
class Backoff {
 public:
  void reset() { polls_ = 0; }
  void idle() {
    ++polls_;
    if (polls_ <= kSpins) return;
    if (polls_ <= kYields) {
      sched_yield();
      return;
    }
    const int steps = polls_ - kYields;
    timespec nap = {0, steps < 10 ? 10'000 * steps : 100'000};
    nanosleep(&nap, nullptr);
  }

 private:
  static constexpr int kSpins = 16;
  static constexpr int kYields = 256;
  int polls_ = 0;
};

}  // namespace haichi::mpi
