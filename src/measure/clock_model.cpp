#include "measure/clock_model.h"

#include <algorithm>
#include <cmath>

namespace haichi::measure {
namespace {

// Nearer to each other, two offsets say more of their errors than of the drift.
constexpr double kApart_ns = 2e8;

}  // namespace

ClockOffset offset_of(std::span<const ClockExchange> exchanges) {
  const ClockExchange& best = *std::min_element(exchanges.begin(), exchanges.end(),
                                                [](const ClockExchange& a, const ClockExchange& b) {
                                                  return a.received - a.sent < b.received - b.sent;
                                                });
  const int64_t trip = best.received - best.sent;
  const int64_t middle = best.sent + trip / 2;
  return {middle, double(best.answered - middle), double(trip) / 2};
}

void ClockModel::add(const ClockOffset& offset) {
  if (any_) {
    const double apart = double(offset.at - last_.at);
    if (apart >= kApart_ns) drift_ = (offset.offset - last_.offset) / apart;
  }
  last_ = offset;
  any_ = true;
}

double ClockModel::offset_at(int64_t own) const {
  return last_.offset + drift_ * double(own - last_.at);
}

int64_t ClockModel::other_at(int64_t own) const {
  return own + int64_t(std::llround(offset_at(own)));
}

int64_t ClockModel::own_at(int64_t other) const {
  // The drift is some millionths, so the offset at a time that is off by itself is the same.
  return other - int64_t(std::llround(offset_at(other - int64_t(last_.offset))));
}

}  // namespace haichi::measure
