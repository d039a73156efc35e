// Which receives stand back behind the sends that follow them, see "Sends before receives" in
// docs/notes.md.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plan/schedule.h"

namespace haichi::plan {

/// From which size on a message is sent before those are received that a rank could receive first.
inline constexpr int64_t kLargeBytes = 32 << 10;

/// The receives of one rank that stand back. An executor asks hold() of each receive that the
/// schedule has, and takes those that stand back before any step that they may not stand behind
/// (due_before), and before it waits for anything: so that no rank waits for a receive which
/// another holds back while it waits itself.
class LargeReceives {
 public:
  explicit LargeReceives(int64_t from = kLargeBytes) : from_(from) {}

  /// True if the receive stands back. So do all behind one that does: between two ranks messages
  /// match in their order.
  bool hold(const Step& receive) {
    if (receive.to.size < from_ && empty()) return false;
    held_.push_back(receive);
    return true;
  }
  /// Receives stand back behind messages of their own round alone.
  bool due_before(const Step& next) const {
    if (empty()) return false;
    const bool message = next.kind == Step::Kind::send || next.kind == Step::Kind::receive;
    return !message || next.round != held_.front().round;
  }
  bool empty() const { return held_.empty(); }
  /// The first of them, which then stands back no more.
  Step take() {
    const Step first = held_[at_++];
    if (at_ == held_.size()) clear();
    return first;
  }
  void clear() {
    held_.clear();
    at_ = 0;
  }

 private:
  int64_t from_;
  std::vector<Step> held_;  // empty once all of them are taken
  size_t at_ = 0;
};

}  // namespace haichi::plan
