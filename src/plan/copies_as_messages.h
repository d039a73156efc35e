// A schedule whose copies within the rank are messages of the rank to itself: for whoever leaves
// the copying to the MPI library, because it knows the datatypes.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include "plan/schedule.h"

namespace haichi::plan {

/// `whole` must outlive it. `me` is the rank.
class CopiesAsMessages : public Schedule {
 public:
  CopiesAsMessages(Schedule& whole, int me) : whole_(whole), me_(me) {}

  int max_outstanding() const override { return whole_.max_outstanding(); }
  bool next(Step& step) override {
    if (copying_) {
      copying_ = false;
      step = {.kind = Step::Kind::send, .peer = me_, .from = copy_.from, .round = copy_.round};
      return true;
    }
    if (!whole_.next(step)) return false;
    if (step.kind != Step::Kind::copy) return true;
    copying_ = true;
    copy_ = step;
    step = {.kind = Step::Kind::receive, .peer = me_, .to = copy_.to, .round = copy_.round};
    return true;
  }

 private:
  Schedule& whole_;
  const int me_;
  bool copying_ = false;  // the receive of `copy_` was given, its send was not
  Step copy_;
};

}  // namespace haichi::plan
