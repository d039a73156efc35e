// A schedule whose large messages are cut: an MPI library takes at most 2^31-1 bytes in one call.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <algorithm>

#include "plan/schedule.h"

namespace haichi::plan {

/// The steps of `whole`, with each send and receive of more than `limit` bytes as several. Both
/// sides of a message know its size, and so cut it alike. `whole` must outlive it.
class SplitMessages : public Schedule {
 public:
  static constexpr int64_t kLimit = 1 << 30;
  explicit SplitMessages(Schedule& whole, int64_t limit = kLimit) : whole_(whole), limit_(limit) {}

  int max_outstanding() const override { return whole_.max_outstanding(); }
  bool next(Step& step) override {
    if (left(rest_) == 0 && !whole_.next(rest_)) return false;
    step = rest_;
    const bool message = rest_.kind == Step::Kind::send || rest_.kind == Step::Kind::receive;
    if (!message || left(rest_) <= limit_) {
      rest_ = {};
      return true;
    }
    for (Slice Step::* side : {&Step::from, &Step::to}) {
      Slice& rest = rest_.*side;
      (step.*side).size = std::min(limit_, rest.size);
      rest.begin += (step.*side).size;
      rest.size -= (step.*side).size;
    }
    return true;
  }

 private:
  static int64_t left(const Step& step) { return std::max(step.from.size, step.to.size); }
  Schedule& whole_;
  const int64_t limit_;
  Step rest_;  // of a message that is being cut
};

}  // namespace haichi::plan
