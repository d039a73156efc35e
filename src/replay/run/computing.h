// The time that a program computes between its calls, passed otherwise.
#pragma once

#include <cstdint>

#include "replay/run/options.h"

namespace haichi::replay {

/// Passes time. What one piece takes too long, the next takes less, so that the sum is right.
class Computing {
 public:
  explicit Computing(Compute how) : how_(how) {}

  void pass(double seconds);
  /// What has passed so far, by the wall clock.
  double taken_s() const { return double(taken_ns_) * 1e-9; }

 private:
  void be_busy();
  void be_idle();

  const Compute how_;
  double owed_ns_ = 0;
  int64_t taken_ns_ = 0;
};

}  // namespace haichi::replay
