#include "patterns/cycles_apart.h"

#include <utility>

namespace haichi::patterns {

using plan::Step;

CyclesApart::CyclesApart(std::unique_ptr<plan::Schedule> inner, int me, int ranks, Cycles cycles)
    : inner_(std::move(inner)), me_(me), ranks_(ranks), in_step_(cycles == Cycles::in_step) {}

bool CyclesApart::next(Step& step) {
  while (ready_.empty()) {
    if (!inner_->next(step)) {
      if (ahead_.empty()) return false;
      begin_round();
    } else if (step.round <= round_) {
      return true;
    } else {
      if (step.round > round_ + 1) begin_round();
      ahead_.push_back(step);
    }
  }
  step = ready_.front();
  ready_.pop_front();
  return true;
}

void CyclesApart::begin_round() {
  if (in_step_)
    for (int64_t far = 1; far < ranks_; far *= 2) {
      const int up = int((me_ + far) % ranks_), down = int((me_ - far % ranks_ + ranks_) % ranks_);
      ready_.push_back({.kind = Step::Kind::receive, .peer = down, .round = round_});
      ready_.push_back({.kind = Step::Kind::send, .peer = up, .round = round_});
      ready_.push_back({.kind = Step::Kind::wait, .round = round_});
    }
  ready_.insert(ready_.end(), ahead_.begin(), ahead_.end());
  ahead_.clear();
  ++round_;
}

}  // namespace haichi::patterns
