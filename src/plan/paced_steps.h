// A rank's steps in the order in which its executor takes them, and how much may be under way: the
// rules that all executors keep. See "Sends before receives" in docs/notes.md.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/schedule.h"

namespace haichi::plan {

/// What an executor may hold back. The checking one draws other sizes than these.
struct Pace {
  /// From which size on a message is sent before those are received that a rank could receive
  /// first.
  int64_t large = 32 << 10;
  /// Most bytes that lie packed for messages that are under way, unless a single one has more: what
  /// a network holds is less, and a collective buffer can be much more.
  int64_t most_packed = 1 << 20;
};

/// The steps of a schedule, with receives of large messages behind the sends of their round that
/// follow them. They stand back at most until a step that is no message, or until a send has to
/// wait: so no rank waits for a receive which another holds back while it waits itself.
///
/// An executor asks may_send() before it issues a send. If that says no, it puts the send off and
/// goes on with what next() gives, or waits if there is nothing in between.
class PacedSteps {
 public:
  /// `whole` must outlive it.
  explicit PacedSteps(Schedule& whole, Pace pace = {})
      : whole_(&whole), window_(whole.max_outstanding()), pace_(pace) {}

  /// As Schedule::next().
  bool next(Step& step) {
    if (releasing_) return release(step);
    while (take(step)) {
      if (due_before(step)) {
        ahead_ = step;
        return release(step);
      }
      if (step.kind != Step::Kind::receive || !hold(step)) return true;
    }
    return !held_.empty() && release(step);
  }

  /// The step that next() gave last, a send, has to wait: receives that stand back come first, and
  /// then the send again. False if there are none.
  bool put_off(const Step& send) {
    if (held_.empty()) return false;
    ahead_ = send;
    releasing_ = true;
    return true;
  }

  /// Whether a send may be issued of which so many bytes have to be packed.
  bool may_send(int64_t packed) const {
    if (window_ > 0 && sends_ >= window_) return false;
    return packed == 0 || packed_ == 0 || packed_ + packed <= pace_.most_packed;
  }
  /// It was issued.
  void sent(int64_t packed) {
    ++sends_;
    packed_ += packed;
  }
  /// It is complete.
  void send_done(int64_t packed) {
    --sends_;
    packed_ -= packed;
  }
  int sends() const { return sends_; }  ///< outstanding

 private:
  bool take(Step& step) {
    if (ahead_) {
      step = *ahead_;
      ahead_.reset();
      return true;
    }
    if (!ended_) ended_ = !whole_->next(step);
    return !ended_;
  }
  /// True if the receive stands back. So do all behind one that does: between two ranks messages
  /// match in their order.
  bool hold(const Step& receive) {
    if (receive.to.size < pace_.large && held_.empty()) return false;
    held_.push_back(receive);
    return true;
  }
  /// Receives stand back behind messages of their own round alone.
  bool due_before(const Step& next) const {
    if (held_.empty()) return false;
    const bool message = next.kind == Step::Kind::send || next.kind == Step::Kind::receive;
    return !message || next.round != held_.front().round;
  }
  bool release(Step& step) {
    step = held_[at_++];
    releasing_ = at_ < held_.size();
    if (!releasing_) {
      held_.clear();
      at_ = 0;
    }
    return true;
  }

  Schedule* whole_;
  const int window_;
  const Pace pace_;
  std::vector<Step> held_;     // empty once all of them are taken
  size_t at_ = 0;              // the first of them that is not taken
  bool releasing_ = false;     // they come next
  std::optional<Step> ahead_;  // taken from the schedule, to come behind them
  bool ended_ = false;
  int sends_ = 0;
  int64_t packed_ = 0;  // bytes of outstanding sends
};

}  // namespace haichi::plan
