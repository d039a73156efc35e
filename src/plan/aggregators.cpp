#include "plan/aggregators.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace haichi::plan {
namespace {

constexpr std::string_view kNames[] = {"roundrobin", "packed"};

// The largest divisor of n that is at most `limit`; n and limit are 1 or more.
int largest_divisor(int n, int limit) {
  int best = 1;
  for (int d = 1; d <= n / d; ++d) {
    if (n % d != 0) continue;
    if (n / d <= limit) return n / d;  // the first small divisor gives the largest large one
    if (d <= limit) best = d;
  }
  return best;
}

std::string counted(int n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// The ranks of a node that may be aggregators.
std::span<const int> candidates(const placement::Placement& placement, int node, int per_node) {
  const std::span<const int> ranks = placement.ranks_on(node);
  return per_node > 0 ? ranks.first(std::min(ranks.size(), size_t(per_node))) : ranks;
}

std::vector<int> pack(const placement::Placement& placement, int number, int per_node) {
  std::vector<int> chosen;
  for (int node = 0; node < placement.nodes(); ++node)
    for (const int rank : candidates(placement, node, per_node))
      if (int(chosen.size()) < number) chosen.push_back(rank);
  return chosen;
}

std::vector<int> deal_round_robin(const placement::Placement& placement, int number, int per_node) {
  std::vector<int> chosen;
  chosen.reserve(size_t(number));
  std::vector<int> open(size_t(placement.nodes()));  // nodes that have ranks left, ascending
  std::iota(open.begin(), open.end(), 0);
  for (size_t turn = 0; int(chosen.size()) < number; ++turn) {
    size_t kept = 0;
    for (const int node : open) {
      const auto ranks = candidates(placement, node, per_node);
      if (int(chosen.size()) < number) chosen.push_back(ranks[turn]);
      if (turn + 1 < ranks.size()) open[kept++] = node;
    }
    open.resize(kept);
  }
  return chosen;
}

struct Number {
  int value;
  std::string why;
};

Number number_asked_for(int wanted, int ranks) {
  if (wanted <= ranks) return {wanted, "as asked for"};
  return {ranks, fmt::format("{} asked for, cut at {}", wanted, counted(ranks, "rank"))};
}

Number number_per_node(const placement::Placement& placement, int wanted, int per_node) {
  int all = 0;
  for (int node = 0; node < placement.nodes(); ++node)
    all += int(candidates(placement, node, per_node).size());
  if (wanted > 0 && wanted <= all) return {wanted, "as asked for"};
  return {all, fmt::format("{} on each of {}", per_node, counted(placement.nodes(), "node"))};
}

Number number_by_default(int nodes, int stripes) {
  const std::string there = counted(nodes, "node");
  if (stripes <= 0) return {nodes, fmt::format("one per node ({}), cb_nodes not given", there)};
  const std::string striped = counted(stripes, "stripe");
  if (nodes >= stripes)
    return {stripes, fmt::format("one per stripe ({}, {}), cb_nodes not given", striped, there)};
  return {largest_divisor(stripes, nodes),
          fmt::format("largest divisor of {} with at most one per node ({}), cb_nodes not given",
                      striped, there)};
}

}  // namespace

std::optional<Layout> layout_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (kNames[i] == name) return Layout(i);
  return std::nullopt;
}

std::string_view name_of(Layout layout) { return kNames[size_t(layout)]; }

Aggregators choose_aggregators(const placement::Placement& placement, Layout layout, int wanted,
                               int stripes, int per_node) {
  const Number number = per_node > 0 ? number_per_node(placement, wanted, per_node)
                        : wanted > 0 ? number_asked_for(wanted, placement.ranks())
                                     : number_by_default(placement.nodes(), stripes);
  Aggregators chosen;
  chosen.why = fmt::format("{}: {}", counted(number.value, "aggregator"), number.why);
  const bool packed = layout == Layout::packed && (wanted > 0 || per_node > 0);
  chosen.ranks = packed ? pack(placement, number.value, per_node)
                        : deal_round_robin(placement, number.value, per_node);
  return chosen;
}

}  // namespace haichi::plan
