// How long ranks may go on without agreeing on what they have agreed on again and again.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>

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
  /// The ranks agreed that a thing is the library's.
  void longer() {
    left_ = next_;
    next_ = std::clamp(2 * next_, 1, longest_);
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

}  // namespace haichi::mpiio
