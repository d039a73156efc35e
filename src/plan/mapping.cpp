#include "plan/mapping.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "plan/grid_partition.h"
#include "plan/partition.h"

namespace haichi::plan {
namespace {

using placement::Placement;
using Parts = std::vector<int>;  // part of each rank

// Divisions of a grid that are refined.
constexpr int kGridDivisions = 4;
// A graph with as few ranks is shaken, and so often.
constexpr int kFewRanks = 1024;
constexpr int kShakes = 200;

/// Of the ranks of each part on the node of the same number.
struct NodeCost {
  int64_t between = 0, busiest = 0;
  friend auto operator<=>(const NodeCost&, const NodeCost&) = default;
};

NodeCost node_cost(const RankGraph& graph, int parts, const Parts& part_of) {
  NodeCost cost;
  std::vector<int64_t> of_part(static_cast<size_t>(parts));
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    const int part = part_of[size_t(rank)];
    for (const auto& each : graph.of(rank))
      if (part_of[size_t(each.rank)] != part) of_part[size_t(part)] += each.weight;
  }
  for (const int64_t weight : of_part) {
    cost.between += weight;
    cost.busiest = std::max(cost.busiest, weight);
  }
  cost.between /= 2;
  return cost;
}

/// The best division into parts of these sizes that can be found from `given` and others.
Parts divide(const RankGraph& graph, std::span<const int> sizes, const Parts& given,
             const std::optional<Grid>& grid, Effort& effort) {
  const int parts = int(sizes.size());
  Parts best = given;
  NodeCost least = node_cost(graph, parts, given);
  const auto offer = [&](Parts part_of) {
    const NodeCost cost = node_cost(graph, parts, part_of);
    if (cost >= least) return;
    least = cost;
    best = std::move(part_of);
  };
  const auto offer_refined = [&](Parts part_of) {
    offer(part_of);
    refine_parts(graph, parts, part_of, effort);
    offer(std::move(part_of));
  };
  if (least.between == 0 || parts < 2) return best;
  if (grid)
    for (Parts& each : divide_grid(*grid, graph, sizes, kGridDivisions))
      offer_refined(std::move(each));
  if (!grid || graph.ranks() <= kFewRanks) {
    offer_refined(bisect(graph, sizes, effort));
    offer_refined(given);
  }
  if (graph.ranks() <= kFewRanks) {
    Parts shaken = best;
    shake_parts(graph, parts, shaken, kShakes, effort);
    offer(std::move(shaken));
  }
  return best;
}

/// Numbers parts of the same size anew, so that as many ranks as can be have the part that they are
/// given.
void keep_places(Parts& part_of, const Parts& given, std::span<const int> sizes) {
  std::map<std::pair<int, int>, int> common;  // of a part, and one that is given
  for (size_t r = 0; r < part_of.size(); ++r)
    if (sizes[size_t(part_of[r])] == sizes[size_t(given[r])]) ++common[{part_of[r], given[r]}];
  std::vector<std::tuple<int, int, int>> by_number;
  for (const auto& [pair, count] : common) by_number.emplace_back(-count, pair.second, pair.first);
  std::sort(by_number.begin(), by_number.end());
  std::vector<int> name(sizes.size(), -1);
  std::vector<bool> used(sizes.size());
  const auto give = [&](int part, int number) {
    name[size_t(part)] = number;
    used[size_t(number)] = true;
  };
  // The first rank comes first: programs like to believe that it is still itself.
  if (sizes[size_t(part_of[0])] == sizes[size_t(given[0])]) give(part_of[0], given[0]);
  for (const auto& [count, number, part] : by_number)
    if (name[size_t(part)] < 0 && !used[size_t(number)]) give(part, number);
  std::multimap<int, int> free;
  for (size_t p = 0; p < sizes.size(); ++p)
    if (!used[p]) free.emplace(sizes[p], int(p));
  for (size_t p = 0; p < sizes.size(); ++p)
    if (name[p] < 0) {
      const auto next = free.find(sizes[p]);
      name[p] = next->second;
      free.erase(next);
    }
  for (int& part : part_of) part = name[size_t(part)];
}

/// Ranks for seats, both ascending: who has his own seat among them stays.
void seat(std::span<const int> ranks, std::span<const int> seats, std::vector<int>& seat_of) {
  std::vector<int> free;
  std::set_difference(seats.begin(), seats.end(), ranks.begin(), ranks.end(),
                      std::back_inserter(free));
  auto next = free.begin();
  for (const int rank : ranks)
    seat_of[size_t(rank)] = std::binary_search(seats.begin(), seats.end(), rank) ? rank : *next++;
}

/// The seats of a node, for each NUMA node; one list if not all are known.
std::vector<std::vector<int>> numa_seats(const Placement& seats, int node) {
  const auto all = seats.ranks_on(node);
  std::map<int, std::vector<int>> found;
  for (const int each : all)
    found[seats.places().empty() ? -1 : seats.places()[size_t(each)].numa_node].push_back(each);
  if (found.begin()->first < 0) return {{all.begin(), all.end()}};
  std::vector<std::vector<int>> lists;
  for (auto& [numa, list] : found) lists.push_back(std::move(list));
  return lists;
}

/// Seats the ranks of a node.
void seat_node(const RankGraph& graph, const std::vector<int>& ranks, const Placement& seats,
               int node, std::vector<int>& seat_of, Effort& effort) {
  const auto lists = numa_seats(seats, node);
  if (lists.size() < 2) return seat(ranks, lists[0], seat_of);
  // As given: the seats that the ranks would have by number.
  const RankGraph within = graph.among(ranks);
  seat(ranks, seats.ranks_on(node), seat_of);
  std::map<int, int> part_of_seat;
  std::vector<int> sizes;
  for (size_t p = 0; p < lists.size(); ++p) {
    sizes.push_back(int(lists[p].size()));
    for (const int each : lists[p]) part_of_seat[each] = int(p);
  }
  Parts given;
  for (const int rank : ranks) given.push_back(part_of_seat[seat_of[size_t(rank)]]);
  Parts divided = divide(within, sizes, given, std::nullopt, effort);
  keep_places(divided, given, sizes);
  const auto members = members_of(int(sizes.size()), divided);
  for (size_t p = 0; p < lists.size(); ++p) {
    std::vector<int> of_part;
    for (const int member : members[p]) of_part.push_back(ranks[size_t(member)]);
    seat(of_part, lists[p], seat_of);
  }
}

}  // namespace

MappingCost cost_of(const RankGraph& graph, const Placement& seats, std::span<const int> seat_of) {
  MappingCost cost;
  std::vector<int64_t> of_node(size_t(seats.nodes()));
  const auto places = seats.places();
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    const int here = seat_of[size_t(rank)];
    for (const auto& each : graph.of(rank)) {
      const int there = seat_of[size_t(each.rank)];
      if (!seats.same_node(here, there)) {
        of_node[size_t(seats.node_of(here))] += each.weight;
      } else if (!places.empty() && each.rank > rank) {
        const int a = places[size_t(here)].numa_node, b = places[size_t(there)].numa_node;
        if (a >= 0 && b >= 0 && a != b) cost.between_numa += each.weight;
      }
    }
  }
  for (const int64_t weight : of_node) {
    cost.between_nodes += weight;
    cost.busiest_node = std::max(cost.busiest_node, weight);
  }
  cost.between_nodes /= 2;
  return cost;
}

Mapping map_ranks(const RankGraph& graph, const Placement& seats, const std::optional<Grid>& grid,
                  int64_t effort) {
  Mapping mapping;
  std::vector<int> as_given(size_t(graph.ranks()));
  std::iota(as_given.begin(), as_given.end(), 0);
  mapping.given = cost_of(graph, seats, as_given);
  Effort left{effort};
  Parts given;
  std::vector<int> sizes;
  for (int rank = 0; rank < seats.ranks(); ++rank) given.push_back(seats.node_of(rank));
  for (int node = 0; node < seats.nodes(); ++node)
    sizes.push_back(int(seats.ranks_on(node).size()));
  Parts part_of = divide(graph, sizes, given, grid, left);
  keep_places(part_of, given, sizes);
  mapping.seat_of.resize(as_given.size());
  const auto members = members_of(int(sizes.size()), part_of);
  for (int node = 0; node < seats.nodes(); ++node)
    seat_node(graph, members[size_t(node)], seats, node, mapping.seat_of, left);
  mapping.cost = cost_of(graph, seats, mapping.seat_of);
  if (mapping.cost < mapping.given) return mapping;
  mapping.seat_of = std::move(as_given);
  mapping.cost = mapping.given;
  return mapping;
}

}  // namespace haichi::plan
