// When a simulated rank was exchanging for each round, as src/mpi/requests/executor.cpp records it
// of a real one: from the first step of the round to the wait for it, and each moment of one round
// only.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

#include "sim/time.h"

namespace haichi::sim {

class ExchangeLog {
 public:
  struct Entry {
    int64_t round;
    Time begin;
    int64_t bytes;  ///< sent and copied
  };

  /// A step of the round begins, and moves so many bytes away.
  void add(int64_t round, Time now, int64_t bytes) {
    if (open_.empty() || open_.back().round != round) open_.push_back({round, now, 0});
    open_.back().bytes += bytes;
  }

  /// The rank has waited for the round and all before: report(entry) for each.
  template <class Report>
  void finish(int64_t round, Time now, Report&& report) {
    while (!open_.empty() && open_.front().round <= round) {
      report(open_.front());
      open_.pop_front();
      if (!open_.empty()) open_.front().begin = std::max(open_.front().begin, now);
    }
  }

 private:
  std::deque<Entry> open_;  // rounds ascending
};

}  // namespace haichi::sim
