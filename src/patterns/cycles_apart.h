// Two-phase cycles one after the other, as ROMIO has them and paper 000, Fig. 11 shows them, where
// haichi begins to exchange for the next cycle before a window is written ("Overlapping cycles" in
// docs/notes.md).
#pragma once

#include <deque>
#include <memory>

#include "plan/schedule.h"

namespace haichi::patterns {

enum class Cycles {
  overlapping,  ///< as the schedule has them
  in_a_row,     ///< a rank begins a cycle when it has ended the one before
  in_step,      ///< when all ranks have: ROMIO has an all-to-all of sizes between cycles
};

/// The steps of rank `me` of another schedule, those of a round behind all of the round before. The
/// other one may be a round ahead, no more. Holds the steps of one round. What holds ranks in step
/// is a dissemination barrier of messages without bytes, log2(ranks) rounds of them.
class CyclesApart : public plan::Schedule {
 public:
  CyclesApart(std::unique_ptr<plan::Schedule> inner, int me, int ranks, Cycles cycles);
  bool next(plan::Step& step) override;
  int max_outstanding() const override { return inner_->max_outstanding(); }

 private:
  void begin_round();

  std::unique_ptr<plan::Schedule> inner_;
  const int me_, ranks_;
  const bool in_step_;
  int64_t round_ = 0;
  std::deque<plan::Step> ready_;  // to be taken before the inner schedule's
  std::deque<plan::Step> ahead_;  // of the round after round_
};

}  // namespace haichi::patterns
