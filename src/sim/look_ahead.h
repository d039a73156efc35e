// Whose turn comes soon, so that what they need is on its way from memory before it does.
//
// Ranks that keep in step act one after the other, each in memory of its own, of which nothing is
// left in a cache since its last turn. Who they are is known, as they act at the same time.
//
// PURE.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/clockwork.h"

namespace haichi::sim {

class LookAhead {
 public:
  /// What an actor needs is reached over so many steps, each of which needs what the one before has
  /// brought.
  static constexpr size_t kSteps = 3;

  /// The actor's turn is now. Calls fetch(other, step) for those behind it: once for each step, a
  /// turn later each.
  template <class Fetch>
  void turn(const Clockwork& clock, uint32_t actor, Fetch fetch) {
    if (clock.now() != time_ || (size_ > 0 && soon_[0] < actor)) size_ = 0;
    time_ = clock.now();
    if (size_ > 0 && soon_[0] == actor) pop();
    for (int added = 0; size_ < kSteps && added < 2; ++added) {
      const uint32_t next = clock.due_behind(size_ > 0 ? soon_[size_ - 1] : actor);
      if (next == Clockwork::kNobody) break;
      soon_[size_++] = next;
    }
    for (size_t at = 0; at < size_; ++at) fetch(soon_[at], kSteps - 1 - at);
  }

 private:
  void pop() {
    for (size_t at = 1; at < size_; ++at) soon_[at - 1] = soon_[at];
    --size_;
  }

  std::array<uint32_t, kSteps> soon_{};
  size_t size_ = 0;
  Time time_ = -1;  // at which they act
};

}  // namespace haichi::sim
