// Whether calls of one kind and size are faster split or plain, by their times: a file system that
// gives 50 GB/s to one thread leaves nothing to gain where waking another takes 30 us, and a
// machine that others use has no second processor to give.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <algorithm>

namespace haichi::numaio {

class Trial {
 public:
  /// Of the next call: split first, both in turns for some calls, then the faster one; the other
  /// one again from time to time, as the machine may have changed.
  bool split() const {
    if (!is_decided()) return tried_[1] <= tried_[0];
    return is_due() ? !better() : better();
  }
  /// Whether the next call, if it is so large that a part of it tells what plain calls take, is to
  /// begin with such a part.
  bool wants_plain_part() const { return !is_decided() || (is_due() && better()); }

  /// What a call took; the time of a byte, as sizes of one kind differ by up to a factor of two.
  void note(bool split, double seconds_per_byte) {
    double& mean = mean_[split];
    // Less than a new mean: one call that was disturbed does not decide.
    const double seen =
        tried_[split] == 0 ? seconds_per_byte : std::min(seconds_per_byte, 2 * mean);
    mean += (seen - mean) * (tried_[split] == 0 ? 1 : kWeight);
    ++tried_[split];
  }

 private:
  static constexpr long kTrials = 3, kAgain = 61;
  static constexpr double kMargin = 0.97, kWeight = 0.25;
  bool is_decided() const { return tried_[0] >= kTrials && tried_[1] >= kTrials; }
  bool is_due() const { return (tried_[0] + tried_[1]) % kAgain == 0; }
  bool better() const { return mean_[1] < kMargin * mean_[0]; }

  long tried_[2] = {0, 0};  // plain, split
  double mean_[2] = {0, 0};
};

}  // namespace haichi::numaio
