// The simulated ranks: where each stands, and its processor.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/fetch_from_memory.h"
#include "plan/step_generator.h"
#include "sim/clockwork.h"
#include "sim/draws.h"
#include "sim/options.h"
#include "sim/rank_state.h"

namespace haichi::sim {

/// `options` and `clock` must outlive it.
class Ranks {
 public:
  /// Each rank begins within the skew.
  Ranks(const std::vector<plan::Schedule*>& schedules, const Options& options, Clockwork& clock)
      : options_(options), clock_(clock) {
    ranks_.reserve(schedules.size());
    for (size_t r = 0; r < schedules.size(); ++r) {
      RankState& rank = ranks_.emplace_back(*schedules[r]);
      rank.processor_free =
          from_nanoseconds(options.skew_ns * unit(mixed(mixed(options.seed) ^ mixed(r))));
      clock_.set(uint32_t(r), rank.processor_free);
      generated_.push_back(dynamic_cast<const plan::GeneratedSchedule*>(schedules[r]));
      frames_.push_back(generated_[r] != nullptr ? generated_[r]->frame() : nullptr);
    }
  }

  size_t size() const { return ranks_.size(); }
  RankState& operator[](int r) { return ranks_[size_t(r)]; }
  const RankState& operator[](int r) const { return ranks_[size_t(r)]; }

  /// A rank's processor is a FIFO server: its own steps and what it does for messages that arrive.
  /// Returns when it is done with what begins now.
  Time use_processor(int r, Time work) {
    RankState& rank = ranks_[size_t(r)];
    if (options_.noise > 0) {
      const uint64_t draw = mixed(options_.seed + 1) ^ (uint64_t(r) << 32 | rank.draws++);
      work += Time(double(work) * options_.noise * 2 * unit(mixed(draw)));
    }
    rank.processor_free = std::max(clock_.now(), rank.processor_free) + work;
    return rank.processor_free;
  }

  /// Brings what the rank's turn needs from memory. That of some schedules is not known.
  void fetch(int r) const {
    fetch_from_memory(&ranks_[size_t(r)], sizeof(RankState));
    fetch_from_memory(generated_[size_t(r)], sizeof(plan::GeneratedSchedule));
    fetch_from_memory(frames_[size_t(r)], kFrame);
  }

  void resume(int r, Time at) {
    ranks_[size_t(r)].state = RankState::State::resumes;
    clock_.set(uint32_t(r), at);
  }

  /// Something of the rank's is complete: it goes on if it waited for that.
  void wake(int r) {
    RankState& rank = ranks_[size_t(r)];
    const Time now = clock_.now();
    if (rank.state == RankState::State::waits) {
      if (const auto until = rank.complete_until(rank.step.round))
        resume(r, std::max({now, rank.processor_free, *until}));
    } else if (rank.state == RankState::State::waits_to_send &&
               rank.outstanding_at(now) < rank.window) {
      resume(r, std::max(now, rank.processor_free));
    }
  }

 private:
  static constexpr size_t kFrame = 256;  // bytes of an algorithm with some numbers of its own

  const Options& options_;
  Clockwork& clock_;
  std::vector<RankState> ranks_;
  std::vector<const plan::GeneratedSchedule*> generated_;  // null: of another kind
  std::vector<const void*> frames_;
};

}  // namespace haichi::sim
