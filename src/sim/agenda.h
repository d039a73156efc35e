// Which part of the simulated machine acts next, where time never goes back.
//
// Why beside event_queue.h: a heap costs its depth for each event, in memory that is far apart.
// Here an event is put behind others a few times (a radix heap: R. Ahuja, K. Mehlhorn, J. Orlin, R.
// Tarjan, J. ACM 37(2), 1990), and all of one time are found together: where ranks keep in step
// that is thousands of them. In return no event may be set to a time before the last that was
// looked at.
//
// PURE.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/actor_set.h"
#include "sim/time.h"

namespace haichi::sim {

/// At most one event for each of `actors` actors. Of events at the same time the one of the lower
/// actor is first.
class Agenda {
 public:
  explicit Agenda(size_t actors) : times_(actors, kNone), due_(actors) {}

  bool empty() const { return events_ == 0; }
  /// Of the first event; there must be one. From now on none is set to a time before it.
  Time time() {
    if (due_.empty()) go_on();
    return now_;
  }
  uint32_t actor() {
    if (due_.empty()) go_on();
    return due_.first();
  }

  /// An actor behind another that has an event at that time too, or ActorSet::kNone if none is
  /// near.
  uint32_t soon_behind(uint32_t actor) const { return due_.soon_behind(actor); }

  /// Sets the actor's event, in place of the one that it had.
  void set(uint32_t actor, Time time) {
    Time& its = times_[actor];
    if (its == time) return;
    if (its == kNone)
      ++events_;
    else if (its == now_)
      due_.remove(actor);
    its = time;
    put(time, actor);
  }

  /// Takes the actor's event away, if it has one.
  void remove(uint32_t actor) {
    Time& its = times_[actor];
    if (its == kNone) return;
    if (its == now_) due_.remove(actor);
    its = kNone;
    --events_;
  }

 private:
  // Another event of the actor may have taken its place: times_ has those that count.
  struct Entry {
    Time time;
    uint32_t actor;
    Entry(Time at, uint32_t whose) : time(at), actor(whose) {}
  };
  static constexpr Time kNone = -1;

  // Not an Entry: read back from memory as a whole, where it was just written in parts, it keeps
  // the processor from going ahead.
  void put(Time time, uint32_t actor) {
    if (time == now_) return due_.add(actor);
    const auto later = size_t(std::bit_width(uint64_t(time ^ now_)) - 1);
    later_[later].emplace_back(time, actor);
    filled_ |= uint64_t(1) << later;
  }

  // To the next time at which there is an event. Times in later_[i] differ from now_ in bit i and
  // not above it, so the first that has any has the least, and all of them go further down.
  void go_on() {
    while (due_.empty()) {
      const auto first = size_t(std::countr_zero(filled_));
      filled_ &= filled_ - 1;
      std::erase_if(later_[first],
                    [&](const Entry& each) { return times_[each.actor] != each.time; });
      if (later_[first].empty()) continue;
      now_ = later_[first][0].time;
      for (const Entry& each : later_[first]) now_ = std::min(now_, each.time);
      for (const Entry& each : later_[first]) put(each.time, each.actor);
      later_[first].clear();
    }
  }

  std::vector<Time> times_;  // of each actor's event, or kNone
  Time now_ = 0;
  ActorSet due_;                              // whose events are at now_
  std::array<std::vector<Entry>, 63> later_;  // by the highest bit in which the time differs
  uint64_t filled_ = 0;                       // which of them have any, a bit each
  size_t events_ = 0;
};

}  // namespace haichi::sim
