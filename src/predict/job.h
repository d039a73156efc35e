// What is run, and what comes out of it.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithm.h"
#include "placement/placement.h"
#include "predict/path.h"
#include "predict/stretch.h"
#include "record/sequence.h"
#include "sim/time.h"

namespace haichi::predict {

/// A communicator: its ranks' world ranks, in their order.
struct Communicator {
  int id = 0;
  std::vector<int> members;
};

/// What is to be run. All that it points to must outlive the run.
struct Job {
  const placement::Placement* placement = nullptr;
  std::span<const Communicator> communicators;
  std::vector<const record::Sequence*> sequences;  ///< of each rank
};

struct Options {
  double compute_scale = 1;  ///< of all computing
  bool path = true;          ///< whether the critical path is followed
  /// Of the messages of all collective calls; none: the calls take what was measured.
  std::optional<Stretch> calls;
  /// By which all-to-alls and all-gathers go that it can carry out; else the library's.
  std::optional<collectives::Candidate> exchange;
  /// Whether its messages are longer and shorter as those of the library's were.
  bool exchange_as_measured = false;
};

/// Of a function or a rank.
struct Share {
  int64_t calls = 0;
  sim::Time transfer = 0;  ///< in calls, but for
  sim::Time waiting = 0;   ///< which passed before the other side had come
};

struct FunctionShare : Share {
  std::string function;
  bool by_numbers = false;  ///< neither it nor some of its messages were measured
};

struct RankShare : Share {
  sim::Time end = 0;
  sim::Time computing = 0;
  sim::Time recorded = 0;  ///< of transfer: calls without a model, which take what they took
  sim::Time caused = 0;    ///< for which others waited for this rank
};

struct PathShare : PathPart {
  std::string function;  ///< empty: computing
  std::string place;     ///< empty: of no message
};

struct Outcome {
  std::vector<RankShare> ranks;
  std::vector<FunctionShare> functions;
  std::vector<PathShare> path;        ///< to the end of the last rank, the largest first
  std::vector<std::string> problems;  ///< why ranks could not go on to their ends
  std::vector<std::string> notes;     ///< what was assumed
  int64_t messages = 0;
  int64_t events = 0;
  /// Of the last rank.
  sim::Time end() const {
    sim::Time last = 0;
    for (const RankShare& each : ranks) last = std::max(last, each.end);
    return last;
  }
};

}  // namespace haichi::predict
