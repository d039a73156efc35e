#include "collectives/algorithm.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/number_text.h"
#include "collectives/steps.h"

namespace haichi::collectives {
namespace {

int64_t no_memory(const Exchange&, const Parameters&) { return 0; }

constexpr Algorithm kAlgorithms[] = {
    {"spread", Takes::order_and_window, For::any, spread, no_memory, spread_time,
     "all messages at once, in an issue order (Simple Spread)"},
    {"ring", Takes::nothing, For::all_ranks, ring, no_memory, ring_time,
     "one message after the other, by distance"},
    {"ring_one_barrier", Takes::nothing, For::all_ranks, ring_one_barrier, no_memory,
     ring_one_barrier_time, "the ring after a barrier"},
    {"ring_mpi_barrier", Takes::nothing, For::all_ranks, ring_mpi_barrier, no_memory,
     ring_mpi_barrier_time, "the ring with a barrier before every step"},
    {"ring_light_barrier", Takes::nothing, For::all_ranks, ring_light_barrier, no_memory,
     ring_light_barrier_time, "the ring, each receiver says when it is ready"},
    {"pair", Takes::nothing, For::all_ranks, pair, no_memory, ring_time, "two by two"},
    {"bruck", Takes::radix, For::equal_blocks, bruck, bruck_temporary, bruck_time,
     "few messages, each block travels several times"},
    {"node_aware", Takes::leaders, For::equal_blocks, node_aware, node_aware_temporary,
     node_aware_time, "gathered on each node, one message per pair of nodes"},
    {"relay", Takes::nothing, For::all_gather, relay, no_memory, relay_time,
     "blocks are handed on from rank to rank, node after node"},
    {"doubling", Takes::radix, For::all_gather, doubling, doubling_temporary, doubling_time,
     "each rank hands on all that it has, twice as much in every step"},
    {"node_gather", Takes::leaders, For::all_gather, node_gather, node_gather_temporary,
     node_gather_time, "each node sends its blocks once to each other node"},
};

std::string known() {
  std::string text;
  for (const Algorithm& each : kAlgorithms) {
    text += text.empty() ? "" : ", ";
    text += each.name;
    if (each.takes == Takes::order_and_window) text += "(ORDER,WINDOW)";
    if (each.takes == Takes::radix) text += "(RADIX)";
    if (each.takes == Takes::leaders) text += "(LEADERS)";
  }
  return text;
}

std::optional<int> whole(std::string_view text, int least) {
  const auto value = whole_number(text);
  return value && *value >= least ? value : std::nullopt;
}

// Sets the parameters from what stands in the brackets; false if that makes no sense.
bool read_parameters(Candidate& candidate, std::string_view text) {
  Parameters& to = candidate.parameters;
  switch (candidate.algorithm->takes) {
    case Takes::nothing:
      return false;
    case Takes::order_and_window: {
      const size_t comma = std::min(text.find(','), text.size());
      const auto order = plan::issue_order_from(text.substr(0, comma));
      const auto window =
          comma == text.size() ? std::optional(0) : whole(text.substr(comma + 1), 0);
      if (!order || !window) return false;
      to.order = *order;
      to.window = *window;
      return true;
    }
    case Takes::radix: {
      const auto radix = whole(text, 2);
      if (radix) to.radix = *radix;
      return radix.has_value();
    }
    case Takes::leaders: {
      const auto leaders = text == "all" ? std::optional(0) : whole(text, 1);
      if (leaders) to.leaders = *leaders;
      return leaders.has_value();
    }
  }
  return false;
}

}  // namespace

std::span<const Algorithm> algorithms() { return kAlgorithms; }

std::string Candidate::text() const {
  switch (algorithm->takes) {
    case Takes::order_and_window:
      return fmt::format("{}({},{})", algorithm->name, name_of(parameters.order),
                         parameters.window);
    case Takes::radix:
      return fmt::format("{}({})", algorithm->name, parameters.radix);
    case Takes::leaders:
      return fmt::format("{}({})", algorithm->name,
                         parameters.leaders == 0 ? "all" : std::to_string(parameters.leaders));
    case Takes::nothing:
      break;
  }
  return std::string(algorithm->name);
}

std::string Candidate::refusal(Kind kind, bool regular) const {
  if (kind == Kind::neighbours && algorithm->what != For::any)
    return fmt::format("{} is not for an exchange among neighbours", algorithm->name);
  const bool gathers = kind == Kind::all_gather;
  if (algorithm->what == For::all_gather && !gathers)
    return fmt::format("{} needs blocks that are the same for all ranks", algorithm->name);
  if (algorithm->what == For::equal_blocks && (gathers || !regular))
    return fmt::format("{} is for an all-to-all with blocks of one size", algorithm->name);
  return "";
}

std::unique_ptr<plan::Schedule> Candidate::schedule(const Exchange& exchange) const {
  return std::make_unique<plan::GeneratedSchedule>(
      algorithm->steps(exchange, parameters),
      algorithm->takes == Takes::order_and_window ? parameters.window : 0);
}

Result<Candidate> parse_candidate(std::string_view text) {
  const size_t bracket = std::min(text.find('('), text.size());
  for (const Algorithm& each : kAlgorithms) {
    if (each.name != text.substr(0, bracket)) continue;
    Candidate candidate{&each, {}};
    if (bracket == text.size()) return candidate;
    const bool closed = text.back() == ')';
    if (closed && read_parameters(candidate, text.substr(bracket + 1, text.size() - bracket - 2)))
      return candidate;
    break;
  }
  return fail(EINVAL, "no such algorithm: {}; there are {}", text, known());
}

std::vector<Candidate> default_candidates(const placement::Placement& placement, Kind kind,
                                          bool regular, int most_peers) {
  constexpr std::string_view kAllToAll[] = {"spread(nd_rank_shift,0)",
                                            "spread(nd_rank_shift,32)",
                                            "spread(nd_rank_shift,4)",
                                            "ring",
                                            "pair",
                                            "ring_one_barrier",
                                            "ring_light_barrier",
                                            "ring_mpi_barrier",
                                            "bruck(2)",
                                            "bruck(4)",
                                            "bruck(8)",
                                            "node_aware(1)",
                                            "node_aware(2)",
                                            "node_aware(all)"};
  // Where a block can be handed on, everything that sends it to each rank by itself is worse on a
  // network but for few small blocks.
  constexpr std::string_view kAllGather[] = {
      "relay",          "doubling(2)",    "doubling(4)",      "doubling(8)",
      "node_gather(1)", "node_gather(2)", "node_gather(all)", "spread(nd_rank_shift,0)"};
  // Few, as no model leaves any of them out. The library's own sends as the program lists them.
  constexpr std::string_view kNeighbours[] = {"spread(nd_rank_shift,0)", "spread(nd_rank_shift,4)",
                                              "spread(nd_rank_shift,1)", "spread(rank,0)"};
  std::span<const std::string_view> texts = kAllToAll;
  if (kind == Kind::all_gather) texts = kAllGather;
  if (kind == Kind::neighbours) texts = kNeighbours;
  const bool several_each = placement.nodes() > 1 && placement.nodes() < placement.ranks();
  std::vector<Candidate> candidates;
  for (const std::string_view text : texts) {
    const Candidate candidate = *parse_candidate(text);
    if (!candidate.refusal(kind, regular).empty()) continue;
    if (candidate.algorithm->takes == Takes::leaders && !several_each) continue;
    // A window that never fills or a radix that is never reached is the same thing twice.
    const bool idle =
        candidate.parameters.window >= std::min(placement.ranks(), most_peers) ||
        (candidate.algorithm->takes == Takes::radix && candidate.parameters.radix > 2 &&
         candidate.parameters.radix >= placement.ranks());
    if (!idle) candidates.push_back(candidate);
  }
  return candidates;
}

}  // namespace haichi::collectives
