// Two-phase collective I/O as a schedule: exchange the bytes so that each aggregator has contiguous
// parts of the file, and let it alone touch the file (paper 000, section 2, Fig. 1; Thakur et al.).
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiio/access.h"
#include "placement/placement.h"
#include "plan/aggregators.h"
#include "plan/file_domains.h"
#include "plan/issue_order.h"
#include "plan/schedule.h"

namespace haichi::mpiio {

enum class Direction { read, write };

/// What the user and the file system ask for; equal on all ranks of the file.
struct TwoPhaseOptions {
  plan::Layout layout = plan::Layout::roundrobin;
  plan::IssueOrder order = plan::IssueOrder::nd_rank_shift;
  int aggregators = 0;        ///< 0: one per node
  int window = 32;            ///< most sends outstanding per rank; 0: no limit
  int64_t buffer = 16 << 20;  ///< bytes of one aggregator's collective buffer
  int64_t stripe_unit = 0;    ///< bytes; 0: not striped
  bool may_go_direct = true;  ///< ranks may access the file themselves where that is cheaper
  int stripes = 0;            ///< servers that the file is striped over; 0: not known
};

/// What one rank wants of a collective access.
struct RankDemand {
  plan::Extent hull;  ///< of the file; empty: it has no bytes
  int64_t bytes = 0;
  int64_t blocks = 0;  ///< contiguous pieces of the file
};

/// What all ranks decide alike before a collective access, and why.
struct TwoPhasePlan {
  Direction direction = Direction::write;
  bool direct = false;  ///< every rank accesses the file itself; nothing below is used
  plan::Aggregators aggregators;
  plan::FileDomains domains{{}, 1, 1, 0, 0};
  plan::IssueOrder order = plan::IssueOrder::rank;
  int window = 0;
  std::vector<std::string> why;
};

/// True if plan_two_phase may decide that every rank accesses the file itself: all ranks are on one
/// node and the user did not ask for aggregators. Every rank then needs the file open.
bool may_be_direct(const placement::Placement& placement, const TwoPhaseOptions& options);

/// The aggregators under the options: as many as wanted, else one per node, else, on a single node,
/// all ranks, since no network lies between them.
plan::Aggregators aggregators_for(const placement::Placement& placement,
                                  const TwoPhaseOptions& options);

/// `demands[r]` is that of rank r.
TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const std::vector<RankDemand>& demands);

/// Buffers of the schedule's slices.
inline constexpr int kOwnMemory = 0;         ///< positions relative to the access's begin
inline constexpr int kCollectiveBuffer = 1;  ///< bytes relative to the window's begin
/// The collective buffer seen through the view of rank r: slices are positions of r's access.
inline constexpr int view_of(int rank) { return 2 + rank; }
inline constexpr int rank_of_view(int buffer) { return buffer - 2; }

/// One rank's steps. A round is a cycle: for writing, receives, sends, wait_all, file_write; for
/// reading, file_read, receives, sends, wait_all. Only non-empty transfers appear.
class TwoPhaseSchedule : public plan::Schedule {
 public:
  /// `own` is this rank's access. `others[r]` is rank r's access as far as this rank's windows
  /// need it; empty vector if this rank is not an aggregator. All must outlive the schedule.
  TwoPhaseSchedule(const placement::Placement& placement, const TwoPhasePlan& plan, int me,
                   const Access& own, const std::vector<Access>& others);

  bool next(plan::Step& step) override;
  int window() const override { return plan_.window; }
  /// Index of this rank among the aggregators, or -1.
  int my_aggregator() const { return my_aggregator_; }

 private:
  void fill(int64_t cycle);
  void add_exchange(int64_t cycle);
  void add_aggregator_side(int64_t cycle, std::vector<plan::Step>& out) const;
  void add_rank_side(int64_t cycle, std::vector<plan::Step>& out) const;

  const TwoPhasePlan& plan_;
  const int me_;
  const Access& own_;
  const std::vector<Access>& others_;
  int my_aggregator_ = -1;
  std::vector<int> aggregators_in_order_;  // indices, in this rank's issue order
  std::vector<int> peers_in_order_;        // ranks, in this rank's issue order; aggregators only
  std::vector<plan::Step> steps_;          // of the current cycle
  size_t at_ = 0;
  int64_t cycle_ = 0;
};

}  // namespace haichi::mpiio
