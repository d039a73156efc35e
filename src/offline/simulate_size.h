// How large a simulation is: said before it begins, refused where memory would not do, and how far
// it is while it runs.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/result.h"
#include "patterns/pattern.h"
#include "sim/estimate.h"
#include "sim/progress.h"

namespace haichi::offline {

/// What a case will take; nothing known (no messages) of small ones, which begin at once, and of
/// those that access a file. Fails as the pattern does.
Result<sim::Estimate> size_of(const patterns::Pattern& pattern, const patterns::Case& of);

/// Fails with ENOMEM, and says what is needed and what there is: `most` bytes, or what is free if
/// that is 0.
Status check_memory(int64_t most, int ranks, const sim::Estimate& estimate);

/// Lines on standard error: at a terminal one that is written over, if it will take some seconds;
/// else, if asked for, one every ten seconds.
class SimulationProgress : public sim::Progress {
 public:
  SimulationProgress(bool asked_for, const sim::Estimate& estimate);
  ~SimulationProgress() override;
  void at(int64_t messages) override;

 private:
  using Clock = std::chrono::steady_clock;
  const sim::Estimate estimate_;
  const bool terminal_;
  bool shown_;
  Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace haichi::offline
