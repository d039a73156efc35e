// Everybody's message to everybody, as paper 000 measures it (section 4.1, Fig. 8) and
// bench/p2p/alltoall.c does with MPI: all receives posted in rank order, then all sends in the
// issue order, the message to itself among them, then a wait for everything.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include "plan/issue_order.h"
#include "plan/schedule.h"
#include "sim/simulator.h"

namespace haichi::sim {

struct AllToAllCase {
  plan::IssueOrder order = plan::IssueOrder::rank;
  int64_t bytes = 1024;  ///< of each message
  int window = 0;        ///< most sends outstanding; 0 is no limit, as in the paper
};

/// The steps of rank `me`; no memory but the object's own. The placement must outlive it.
class AllToAll : public plan::Schedule {
 public:
  AllToAll(const placement::Placement& placement, plan::IssueOrder order, int me, int64_t bytes,
           int window)
      : order_(placement, order, me), bytes_(bytes), window_(window) {}
  bool next(plan::Step& step) override;
  int window() const override { return window_; }

 private:
  plan::PeerOrder order_;
  int64_t bytes_;
  int window_;
  int64_t at_ = 0;
};

/// Runs it on all ranks of the placement; fails as `simulate` does.
Result<Outcome> simulate_all_to_all(const placement::Placement& placement, const Machine& machine,
                                    const AllToAllCase& of, const Options& options = {});

}  // namespace haichi::sim
