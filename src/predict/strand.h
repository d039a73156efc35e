// A line of calls with a clock: a rank, or a nonblocking collective call beside it.
//
// PURE.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "plan/schedule.h"
#include "predict/calls.h"
#include "predict/path.h"
#include "predict/stretch.h"
#include "record/sequence.h"
#include "sim/time.h"

namespace haichi::predict {

struct Strand {
  enum class Phase : uint8_t {
    fetch,         ///< the next event
    begin,         ///< its call
    inject,        ///< its message
    start,         ///< the next of its persistent requests
    inject_start,  ///< the message of that
    enter,         ///< its collective call
    step,          ///< of that
    inject_step,   ///< its message
    leave,         ///< the collective call is over
    finish,        ///< the call is over
    ended,
    halted,  ///< what comes makes no sense
  };

  int rank = 0;
  bool beside = false;  ///< a nonblocking call
  Phase phase = Phase::fetch;
  sim::Time clock = 0;
  Path path;
  std::optional<record::Unfolded> calls;

  // The call in hand.
  int event = -1;
  Call call;
  int function = 0;
  sim::Time began = 0;
  sim::Time waiting = 0;

  // What it waits for.
  std::vector<int32_t> waits;
  int pending = 0;
  Phase after = Phase::finish;

  // Its collective call.
  std::unique_ptr<plan::Schedule> schedule;
  plan::Step step;
  size_t comm = 0;                 ///< index of the communicator
  uint64_t number = 0;             ///< of the call on it
  std::optional<Stretch> stretch;  ///< of its messages, if it was measured
  int32_t request = -1;            ///< that its end completes, of a strand beside

  std::vector<int32_t> slots;      ///< requests by slot; -1: nothing to wait for
  std::vector<int> persistent;     ///< by slot the event that made it; -1: none
  size_t started = 0;              ///< of the requests that the call in hand starts
  std::vector<int32_t> one_sided;  ///< puts and gets under way
};

}  // namespace haichi::predict
