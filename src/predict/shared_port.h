// A port of a node that serves the messages that cross it side by side, each at an equal share of
// its rate: processor sharing, in virtual time, so that a change costs the logarithm of how many
// there are.
//
// Why not one after the other, as in src/sim/: the bytes of messages that are sent at once go out
// by turns, so a message waits for those sent after it too. The last one of them is done at the
// same time either way, but what waits for the first is not.
//
// PURE.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/time.h"
#include "sim/timed_queue.h"

namespace haichi::predict {

class SharedPort {
 public:
  /// A message begins to cross, which alone takes `work`.
  void add(sim::Time now, sim::Time work, int32_t message) {
    advance(now);
    crossing_.push({virtual_ + double(work), message});
  }

  bool empty() const { return crossing_.empty(); }
  /// When the next one will be through, if no other comes.
  sim::Time next_time() const {
    const double left = (crossing_.next().time - virtual_) * double(crossing_.size());
    return at_ + sim::Time(std::ceil(left > 0 ? left : 0));
  }
  /// It is through at `now`.
  int32_t take(sim::Time now) {
    advance(now);
    const int32_t message = crossing_.take().message;
    if (crossing_.empty()) virtual_ = 0;
    return message;
  }

 private:
  struct Crossing {
    double time;  // when it is through, in virtual time: what each of them has been given
    int32_t message;
  };

  void advance(sim::Time now) {
    if (!crossing_.empty()) virtual_ += double(now - at_) / double(crossing_.size());
    at_ = now;
  }

  sim::TimedQueue<Crossing> crossing_;
  double virtual_ = 0;
  sim::Time at_ = 0;
};

}  // namespace haichi::predict
