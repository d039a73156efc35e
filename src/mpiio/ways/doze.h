// How long ranks may go on without agreeing on what they have agreed on again and again.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <cstdint>

namespace haichi::mpiio {

/// Things in a row (accesses of a file, files of the same ranks) that turn out to be the MPI
/// library's: the more of them there were, the longer nobody asks. Equal on all ranks, if what it
/// counts is.
class Doze {
 public:
  /// Nobody asks after the first `first` things in a row, then twice as many, up to `longest`: so
  /// many are the library's by mistake where the program begins with something else.
  explicit Doze(int first = 1, int longest = 32) : first_(first), longest_(longest), next_(first) {}

  /// True if the next thing is the library's without a word.
  bool goes_on() { return left_ > 0 && left_-- > 0; }
  /// The ranks agreed that a thing is the library's. `longest`: where it pays to sleep longer than
  /// usual, see AgreementPace.
  void longer(int longest = 0) {
    left_ = next_;
    next_ = std::clamp(2 * next_, 1, std::max(longest, longest_));
    ++agreed_;
  }
  /// They agreed on something else.
  void end() {
    next_ = first_;
    ended_ = true;
  }
  /// What was agreed on holds no longer.
  void wake() {
    left_ = 0;
    next_ = first_;
  }
  /// From the begin as if it had been the library's for long.
  void begin_asleep() { left_ = next_ = longest_; }

  bool ended() const { return ended_; }
  bool all_were_the_librarys() const { return agreed_ > 0 && !ended_; }

 private:
  const int first_, longest_;
  int left_ = 0;
  int next_;
  int agreed_ = 0;
  bool ended_ = false;
};

/// How long ranks may sleep so that agreeing takes a small share of the time of all that they do.
/// What it is asked with is what all ranks told, the least of each.
class AgreementPace {
 public:
  /// A thing was slept through.
  void slept() { ++things_; }
  /// An agreement began and ended. Times in ns.
  void agreed(int64_t begin_ns, int64_t end_ns) {
    if (last_end_ns_ != 0)
      period_ns_ = std::max<int64_t>(1, (begin_ns - last_end_ns_) / (things_ + 1));
    least_ns_ = least_ns_ == 0 ? end_ns - begin_ns : std::min(least_ns_, end_ns - begin_ns);
    last_end_ns_ = end_ns;
    things_ = 0;
  }
  /// Of this rank: from one thing to the next, and what an agreement takes at least. 0: not known.
  int64_t period_ns() const { return period_ns_; }
  int64_t least_ns() const { return least_ns_; }

  /// Things to sleep through; 0 if nothing is known.
  static int longest(int64_t period_ns, int64_t agreement_ns) {
    constexpr int64_t kShare = 33;  // three per cent
    constexpr int64_t kLongest = 1024;
    if (period_ns <= 0) return 0;
    return int(std::min(kLongest, agreement_ns * kShare / period_ns));
  }

 private:
  int64_t things_ = 0;
  int64_t last_end_ns_ = 0, period_ns_ = 0, least_ns_ = 0;
};

}  // namespace haichi::mpiio
