// Where one simulated rank stands in its schedule, and which of its messages are not complete.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/paced_steps.h"
#include "plan/schedule.h"
#include "sim/fifo.h"
#include "sim/time.h"

namespace haichi::sim {

inline constexpr int64_t kEveryRound = INT64_MAX;  ///< of the wait at a schedule's end

struct RankState {
  /// `schedule` must outlive it.
  explicit RankState(plan::Schedule& schedule)
      : steps(schedule), window(schedule.max_outstanding()) {}

  enum class State : uint8_t {
    running,
    issuing,        ///< a send's work on the processor is under way
    resumes,        ///< goes on at its event
    waits_to_send,  ///< its window is full
    waits,          ///< for messages of step.round and before
    waits_for_node,
    waits_for_file,
    finished,
  };
  /// Messages of one round.
  struct Open {
    int32_t round;
    int32_t count = 0;  ///< receives not complete, and rendezvous sends
    Time departed = 0;  ///< the last eager send has left the node
  };

  /// The round's messages; those of a new round are none.
  Open& open(int32_t round) {
    for (Open& each : opens)
      if (each.round == round) return each;
    opens.push_back({round});
    return opens.back();
  }

  /// When everything of that round and of earlier ones is complete, as far as messages that are
  /// still to come have no say; nothing while any of those is.
  std::optional<Time> complete_until(int64_t round) const {
    Time last = 0;
    for (const Open& each : opens) {
      if (each.round > round) continue;
      if (each.count > 0) return std::nullopt;
      last = std::max(last, each.departed);
    }
    return last;
  }

  void forget(int64_t round) {
    std::erase_if(opens, [&](const Open& each) { return each.round <= round; });
  }

  /// Sends outstanding at a time not before the last that was asked for.
  int outstanding_at(Time time) {
    while (!departures.empty() && departures.front() <= time) {
      departures.pop_front();
      --outstanding;
    }
    return outstanding;
  }

  plan::PacedSteps steps;
  plan::Step step;       ///< the current one
  bool pending = false;  ///< it was taken from the schedule and is not done
  bool ended = false;    ///< the schedule has no more; the current step is the wait at its end
  bool arrived = false;  ///< at a meeting of its node that it has not waited for
  int64_t meetings = 0;  ///< come to so far
  State state = State::resumes;
  const int window;
  int outstanding = 0;    ///< sends; counted only where a window asks for it, or rendezvous
  Fifo<Time> departures;  ///< when the eager ones of them will be complete, ascending
  Time processor_free = 0;
  uint32_t draws = 0;  ///< of noise
  std::vector<Open> opens;
};

}  // namespace haichi::sim
