#include "plan/aggregators.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

std::vector<int> deal_round_robin(const placement::Placement& placement, int number) {
  std::vector<int> chosen;
  chosen.reserve(size_t(number));
  std::vector<int> open(size_t(placement.nodes()));  // nodes that have ranks left, ascending
  std::iota(open.begin(), open.end(), 0);
  for (size_t turn = 0; int(chosen.size()) < number; ++turn) {
    size_t kept = 0;
    for (const int node : open) {
      const auto ranks = placement.ranks_on(node);
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
                               int stripes) {
  const Number number = wanted > 0 ? number_asked_for(wanted, placement.ranks())
                                   : number_by_default(placement.nodes(), stripes);
  Aggregators chosen;
  chosen.why = fmt::format("{}: {}", counted(number.value, "aggregator"), number.why);
  if (layout == Layout::packed && wanted > 0) {
    const auto first = placement.by_node().first(size_t(number.value));
    chosen.ranks.assign(first.begin(), first.end());
  } else {
    chosen.ranks = deal_round_robin(placement, number.value);
  }
  return chosen;
}

}  // namespace haichi::plan
