// The algorithms for an exchange, and how a choice among them is written.
//
// Each algorithm is a function in a file of its own that yields one rank's steps, and a row of the
// table in algorithm.cpp. Nothing else has to know of it: the executors, the simulator, the
// selector and the command line read the table.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collectives/cost.h"
#include "collectives/exchange.h"
#include "collectives/parameters.h"
#include "plan/schedule.h"
#include "plan/step_generator.h"

namespace haichi::collectives {

/// Which of the parameters an algorithm reads; it is also what stands in its brackets.
enum class Takes : uint8_t { nothing, order_and_window, radix, leaders };

/// Which exchanges an algorithm can carry out.
enum class For : uint8_t {
  any,
  all_ranks,     ///< it goes round all ranks: no exchange among neighbours
  equal_blocks,  ///< it has to know what others have for others, all ranks too
  all_gather,    ///< it hands on what it got
};

struct Algorithm {
  std::string_view name;
  Takes takes;
  For what;
  plan::StepGenerator (*steps)(Exchange, Parameters);
  /// Bytes of Exchange::kTemporary that this rank needs.
  int64_t (*temporary)(const Exchange&, const Parameters&);
  /// What it takes by the model, if all blocks are equal; model.h uses it.
  Terms (*time)(const Question&, const Parameters&);
  std::string_view help;
};

/// All of them. The MPI library's own is not among them: it has no schedule.
std::span<const Algorithm> algorithms();

/// An algorithm with its parameters.
struct Candidate {
  const Algorithm* algorithm = nullptr;
  Parameters parameters;
  friend bool operator==(const Candidate&, const Candidate&) = default;

  /// As parse_candidate reads it: "ring", "bruck(4)", "spread(nd_rank_shift,32)".
  std::string text() const;
  /// Empty if it can carry out an exchange of that kind, or why not. `regular`: blocks of one size.
  std::string refusal(Kind kind, bool regular) const;
  std::string refusal(const Exchange& exchange) const {
    return refusal(exchange.kind, exchange.regular());
  }
  /// The schedule of exchange.me. Precondition: refusal() is empty.
  std::unique_ptr<plan::Schedule> schedule(const Exchange& exchange) const;
  int64_t temporary(const Exchange& exchange) const {
    return algorithm->temporary(exchange, parameters);
  }
};

/// Reads NAME or NAME(PARAMETERS): spread(ORDER,WINDOW), bruck(RADIX), node_aware(LEADERS, or all),
/// and so on.
/// What is left out has the default of Parameters. Fails with EINVAL and a text that lists what is
/// known.
Result<Candidate> parse_candidate(std::string_view text);

/// The candidates worth a thought on this placement, in a fixed order: the same list on all ranks.
/// `most_peers`: to which a rank sends at most; where that is not all the others it must be told.
std::vector<Candidate> default_candidates(const placement::Placement& placement, Kind kind,
                                          bool regular, int most_peers = INT_MAX);

}  // namespace haichi::collectives
