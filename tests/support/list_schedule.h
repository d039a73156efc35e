// A schedule spelled out step by step, for tests.
#pragma once

#include <utility>
#include <vector>

#include "plan/schedule.h"
#include "plan/steps.h"

namespace haichi::test {

class ListSchedule : public plan::Schedule {
 public:
  explicit ListSchedule(std::vector<plan::Step> steps, int window = 0)
      : steps_(std::move(steps)), window_(window) {}
  bool next(plan::Step& step) override {
    if (at_ == steps_.size()) return false;
    step = steps_[at_++];
    return true;
  }
  int max_outstanding() const override { return window_; }

 private:
  std::vector<plan::Step> steps_;
  int window_;
  size_t at_ = 0;
};

using plan::receive_step;
using plan::send_step;
using plan::wait_step;
inline plan::Step copy_step(plan::Slice from, plan::Slice to) {
  return {.kind = plan::Step::Kind::copy, .from = from, .to = to};
}
inline plan::Step file_read_step(plan::Slice to, int64_t file_begin) {
  return {.kind = plan::Step::Kind::file_read, .to = to, .file_begin = file_begin};
}
inline plan::Step file_write_step(plan::Slice from, int64_t file_begin) {
  return {.kind = plan::Step::Kind::file_write, .from = from, .file_begin = file_begin};
}
inline plan::Step file_wait_step() { return {.kind = plan::Step::Kind::file_wait}; }
inline plan::Step node_arrive_step() { return {.kind = plan::Step::Kind::node_arrive}; }
inline plan::Step node_meet_step(int64_t round = 0) {
  return {.kind = plan::Step::Kind::node_meet, .round = round};
}
inline plan::Step round_step(int64_t round) {
  return {.kind = plan::Step::Kind::round, .round = round};
}

}  // namespace haichi::test
