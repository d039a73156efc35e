// What is to happen, by time.
//
// PURE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>

namespace haichi::sim {

/// Of things that have a member `time`. Of those at the same time the one that was put in first
/// comes first.
template <class What>
class TimedQueue {
 public:
  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  void push(const What& what) { entries_.push({what, pushed_++}); }
  /// What comes next; there must be something.
  const What& next() const { return entries_.top().what; }
  What take() {
    const What what = next();
    entries_.pop();
    return what;
  }

 private:
  struct Entry {
    What what;
    uint64_t number;
    bool operator<(const Entry& other) const {  // of a priority queue: the latest is the least
      if (what.time != other.what.time) return what.time > other.what.time;
      return number > other.number;
    }
  };
  std::priority_queue<Entry> entries_;
  uint64_t pushed_ = 0;
};

}  // namespace haichi::sim
