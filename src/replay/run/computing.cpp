#include "replay/run/computing.h"

#include <time.h>

#include <algorithm>

#include "base/clock.h"
#include "replay/run/watch.h"

namespace haichi::replay {
namespace {

constexpr char kComputing[] = "computing";
// A shorter sleep takes as long as this one; and a piece of a long one.
constexpr double kShortestSleep = 60e3, kLongestSleep = 0.5e9;
// Of what is longer the processor time counts, not the time that others had the processor. Asking
// for it takes a system call.
constexpr double kProcessorTimeFrom = 20e3;

}  // namespace

void Computing::pass(double seconds) {
  if (how_ == Compute::none) return;
  owed_ns_ += seconds * 1e9;
  if (owed_ns_ < (how_ == Compute::idle ? kShortestSleep : 100)) return;
  progress(kComputing);
  const int64_t begin = now_ns();
  if (how_ == Compute::busy)
    be_busy();
  else
    be_idle();
  taken_ns_ += now_ns() - begin;
}

void Computing::be_busy() {
  const auto clock = owed_ns_ < kProcessorTimeFrom ? now_ns : thread_cpu_ns;
  const int64_t begin = clock();
  const auto owed = int64_t(owed_ns_);
  int64_t passed = 0;
  while ((passed = clock() - begin) < owed) progress(kComputing);
  owed_ns_ -= double(passed);
}

void Computing::be_idle() {
  while (owed_ns_ >= kShortestSleep) {
    const auto piece = int64_t(std::min(owed_ns_, kLongestSleep));
    const timespec time{0, piece};
    const int64_t begin = now_ns();
    nanosleep(&time, nullptr);
    owed_ns_ -= double(now_ns() - begin);
    progress(kComputing);
  }
}

}  // namespace haichi::replay
