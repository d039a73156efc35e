// Which part of the simulated machine acts next.
//
// Why: a queue of all messages would hold millions of entries. Ranks and links are FIFO servers,
// so each needs only its own next event here, and the queue stays as small as the machine.
//
// PURE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/time.h"

namespace haichi::sim {

/// A heap of at most one event for each of `actors` actors. Of events at the same time the one of
/// the lower actor is first, so that a run does not depend on the history of the heap.
class EventQueue {
 public:
  explicit EventQueue(size_t actors) : place_(actors, kNone) {}

  /// From now on there are so many actors, not fewer than before.
  void grow(size_t actors) { place_.resize(actors, kNone); }

  bool empty() const { return heap_.size() == size_t(hole_ ? 1 : 0); }
  Time time() {
    fill();
    return heap_[0].time;
  }
  uint32_t actor() {
    fill();
    return heap_[0].actor;
  }

  /// Sets the actor's event, in place of the one that it had.
  void set(uint32_t actor, Time time) {
    size_t at = place_[actor];
    const Event event{time, actor};
    if (at == kNone && hole_) {
      hole_ = false;
      return down(0, event);
    }
    if (at == kNone) {
      at = heap_.size();
      heap_.push_back(event);
    }
    if (at > 0 && before(event, heap_[(at - 1) / kWays]))
      up(at, event);
    else
      down(at, event);
  }

  /// Takes the actor's event away, if it has one.
  void remove(uint32_t actor) {
    const size_t at = place_[actor];
    if (at == kNone) return;
    fill();
    if (place_[actor] == 0) {
      place_[actor] = kNone;
      hole_ = true;
      return;
    }
    take_away(place_[actor]);
  }

 private:
  struct Event {
    Time time;
    uint32_t actor;
  };
  static constexpr size_t kWays = 4;
  static constexpr uint32_t kNone = UINT32_MAX;

  // The first event was taken away, and its place is still free: mostly another one comes at once,
  // and one way through the heap does for both.
  void fill() {
    if (!hole_) return;
    hole_ = false;
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) down(0, last);
  }
  void take_away(size_t at) {
    place_[heap_[at].actor] = kNone;
    const Event last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    if (at > 0 && before(last, heap_[(at - 1) / kWays]))
      up(at, last);
    else
      down(at, last);
  }

  static bool before(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.actor < b.actor;
  }
  void put(size_t at, const Event& event) {
    heap_[at] = event;
    place_[event.actor] = uint32_t(at);
  }
  void up(size_t at, Event event) {
    for (; at > (hole_ ? kWays : 0); at = (at - 1) / kWays) {
      const Event& parent = heap_[(at - 1) / kWays];
      if (!before(event, parent)) break;
      put(at, parent);
    }
    put(at, event);
  }
  void down(size_t at, Event event) {
    for (size_t first; (first = at * kWays + 1) < heap_.size();) {
      size_t least = first;
      for (size_t i = first + 1; i < heap_.size() && i < first + kWays; ++i)
        if (before(heap_[i], heap_[least])) least = i;
      if (!before(heap_[least], event)) break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, event);
  }

  std::vector<Event> heap_;
  bool hole_ = false;            // heap_[0] is none
  std::vector<uint32_t> place_;  // in the heap, or kNone
};

}  // namespace haichi::sim
