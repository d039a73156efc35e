// What becomes of a window at the file, as requests: window_file.h has it for real files.
#pragma once

#include <deque>
#include <memory>

#include "mpiio/storage/window_file.h"
#include "mpiio/twophase/two_phase_plan.h"
#include "plan/schedule.h"

namespace haichi::patterns {

/// The pieces of a file that ranks give or want: `size` bytes every `stride` bytes of the range.
struct Pieces {
  plan::Extent range;
  int64_t size, stride;
};

/// Another schedule's steps. Where a window that is written has holes it is read before it is
/// written (read-modify-write), or each piece is written by itself, by the rule of real files.
/// Without a thread that accesses the file the rank waits for each access.
class FileSteps : public plan::Schedule {
 public:
  FileSteps(std::unique_ptr<plan::Schedule> inner, const Pieces& pieces, mpiio::Holes holes,
            bool thread)
      : inner_(std::move(inner)), pieces_(pieces), holes_(holes), thread_(thread) {}
  /// The same of the two-phase schedule of a rank: the plan, which must outlive it, has the parts
  /// of its windows, and says whether there is a thread.
  FileSteps(std::unique_ptr<plan::Schedule> inner, const Pieces& pieces, mpiio::Holes holes,
            const mpiio::TwoPhasePlan& plan, int rank);
  bool next(plan::Step& step) override;
  int max_outstanding() const override { return inner_->max_outstanding(); }

 private:
  void expand(const plan::Step& step);
  void write(const plan::Step& step);
  void add_part(const plan::Step& step, const plan::Extent& part, int64_t at);

  std::unique_ptr<plan::Schedule> inner_;
  const Pieces pieces_;
  const mpiio::Holes holes_;
  const bool thread_;
  const plan::FileDomains* domains_ = nullptr;  // null: a window is one part
  int aggregator_ = -1;
  std::deque<plan::Step> steps_;  // that the last one of the inner schedule came to
};

}  // namespace haichi::patterns
