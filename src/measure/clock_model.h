// What another rank's clock shows, from a few messages to and from it and back: the offset by the
// shortest round trip (Cristian, 1989), the drift by two such a while apart (Hunold and
// Carpen-Amarie, HCA, 2015). Pure; times are nanoseconds of the clocks.
#pragma once

#include <cstdint>
#include <span>

namespace haichi::measure {

/// One question and its answer: sent and received by one's own clock, answered by the other's.
struct ClockExchange {
  int64_t sent, answered, received;
};

/// By how much the other clock is ahead at `at` of one's own, and at most how wrong that is.
struct ClockOffset {
  int64_t at = 0;
  double offset = 0;
  double error = 0;
};

/// Of the exchange with the shortest round trip; there is at least one.
ClockOffset offset_of(std::span<const ClockExchange> exchanges);

/// Two clocks that run straight, at rates that differ a little.
class ClockModel {
 public:
  /// A newer look at the other clock.
  void add(const ClockOffset& offset);
  /// What the other clock shows when one's own shows `own`, and the inverse.
  int64_t other_at(int64_t own) const;
  int64_t own_at(int64_t other) const;
  /// How wrong the last offset was at most.
  double error() const { return last_.error; }

 private:
  double offset_at(int64_t own) const;

  ClockOffset last_;
  double drift_ = 0;  // of the offset, per nanosecond
  bool any_ = false;
};

}  // namespace haichi::measure
