#include "plan/mapping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "plan/partition.h"
#include "support/random_placement.h"

namespace haichi::plan {
namespace {

using placement::Placement;
using test::Random;

/// The least that goes between parts of these sizes, found by trying all divisions.
int64_t least_between(const RankGraph& graph, const std::vector<int>& sizes) {
  std::vector<int> part_of(size_t(graph.ranks()), -1), free = sizes;
  int64_t least = INT64_MAX;
  const std::function<void(int, int64_t)> seat = [&](int rank, int64_t cut) {
    if (cut >= least) return;
    if (rank == graph.ranks()) {
      least = cut;
      return;
    }
    for (size_t p = 0; p < sizes.size(); ++p) {
      if (free[p] == 0) continue;
      // Of equal parts that are empty the first one will do.
      const auto same = [&](size_t q) { return sizes[q] == sizes[p] && free[q] == sizes[q]; };
      if (free[p] == sizes[p] && p > 0 && same(p - 1)) continue;
      int64_t more = 0;
      for (const auto& each : graph.of(rank))
        if (each.rank < rank && part_of[size_t(each.rank)] != int(p)) more += each.weight;
      --free[p];
      part_of[size_t(rank)] = int(p);
      seat(rank + 1, cut + more);
      ++free[p];
    }
    part_of[size_t(rank)] = -1;
  };
  seat(0, 0);
  return least;
}

std::vector<int> sizes_of(const Placement& seats) {
  std::vector<int> sizes;
  for (int node = 0; node < seats.nodes(); ++node)
    sizes.push_back(int(seats.ranks_on(node).size()));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

void expect_sound(const Mapping& mapping, const RankGraph& graph, const Placement& seats) {
  std::vector<int> sorted = mapping.seat_of, all(sorted.size());
  std::iota(all.begin(), all.end(), 0);
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, all);
  EXPECT_EQ(cost_of(graph, seats, mapping.seat_of), mapping.cost);
  EXPECT_EQ(cost_of(graph, seats, all), mapping.given);
  EXPECT_LE(mapping.cost, mapping.given);
  if (mapping.cost == mapping.given) {
    EXPECT_EQ(mapping.seat_of, all);
  }
}

/// Unequal nodes in any order.
Placement placement_of(std::vector<int> sizes, Random& random, bool shuffled) {
  std::vector<int> ids;
  for (size_t node = 0; node < sizes.size(); ++node)
    ids.insert(ids.end(), size_t(sizes[node]), int(node));
  if (shuffled) random.shuffle(ids);
  return Placement(ids);
}

std::vector<int> random_sizes(Random& random, int ranks, int nodes) {
  std::vector<int> sizes(size_t(nodes), 1);
  for (int r = nodes; r < ranks; ++r) ++sizes[size_t(random.below(nodes))];
  return sizes;
}

Grid random_grid(Random& random, int most) {
  Grid grid;
  const int dimensions = int(random.between(1, 4));
  for (int d = 0; d < dimensions; ++d) {
    const int room = most / grid.ranks();
    grid.extents.push_back(int(random.between(1, std::max(1, std::min(room, 12)))));
    grid.periodic.push_back(random.below(2) == 0);
  }
  return grid;
}

std::string describe(const Grid& grid, const Placement& seats) {
  std::string text;
  for (size_t d = 0; d < grid.extents.size(); ++d)
    text += fmt::format("{}{} ", grid.extents[d], grid.periodic[d] ? "p" : "");
  return text + test::describe(seats);
}

TEST(Mapping, OfASquareGridIsSquares) {
  const Grid grid{.extents = {8, 8}, .periodic = {false, false}};
  const RankGraph graph = graph_of(grid);
  const Placement seats = placement::block(4, 16);
  const Mapping mapping = map_ranks(graph, seats, grid);
  expect_sound(mapping, graph, seats);
  // Three borders of eight edges are two; each edge is a message either way.
  EXPECT_EQ(mapping.given, (MappingCost{.between_nodes = 48, .busiest_node = 32}));
  EXPECT_EQ(mapping.cost, (MappingCost{.between_nodes = 32, .busiest_node = 16}));
  EXPECT_EQ(mapping.seat_of[0], 0);
}

TEST(Mapping, OfWhatIsBestAlreadyStaysAsItIs) {
  const Grid grid{.extents = {4, 16}, .periodic = {false, false}};
  const Mapping mapping = map_ranks(graph_of(grid), placement::block(2, 32), grid);
  const Grid other{.extents = {32, 2}, .periodic = {false, false}};
  const Mapping best = map_ranks(graph_of(other), placement::block(4, 16), other);
  EXPECT_LT(mapping.cost, mapping.given);
  EXPECT_EQ(best.cost, best.given);
  EXPECT_TRUE(std::is_sorted(best.seat_of.begin(), best.seat_of.end()));
}

TEST(Mapping, OfSmallGridsIsTheBestThereIs) {
  Random random(1);
  int64_t best = 0, found = 0;
  for (int round = 0; round < 150; ++round) {
    const Grid grid = random_grid(random, 12);
    const int ranks = grid.ranks();
    const auto sizes = random_sizes(random, ranks, int(random.between(1, std::min(ranks, 4))));
    const Placement seats = placement_of(sizes, random, random.below(2) == 0);
    const RankGraph graph = graph_of(grid);
    const Mapping mapping = map_ranks(graph, seats, grid);
    expect_sound(mapping, graph, seats);
    const int64_t least = least_between(graph, sizes_of(seats));
    EXPECT_LE(20 * mapping.cost.between_nodes, 21 * least) << describe(grid, seats);
    best += least;
    found += mapping.cost.between_nodes;
  }
  EXPECT_GT(best, 500);
  EXPECT_EQ(found, best);
}

TEST(Mapping, OfSixteenRanksOnFourNodesIsTheBestThereIs) {
  for (const std::vector<int>& extents : {std::vector{4, 4}, {2, 8}, {2, 2, 4}})
    for (int periods = 0; periods < 4; ++periods) {
      Grid grid{.extents = extents};
      for (size_t d = 0; d < extents.size(); ++d) grid.periodic.push_back(periods >> d & 1);
      const RankGraph graph = graph_of(grid);
      for (const std::vector<int>& sizes : {std::vector{4, 4, 4, 4}, {6, 5, 3, 2}}) {
        Random random(7);
        const Placement seats = placement_of(sizes, random, false);
        const Mapping mapping = map_ranks(graph, seats, grid);
        EXPECT_EQ(mapping.cost.between_nodes, least_between(graph, sizes_of(seats)))
            << describe(grid, seats);
      }
    }
}

TEST(Mapping, OfSmallGraphsIsTheBestThereIs) {
  Random random(2);
  for (int round = 0; round < 150; ++round) {
    const int ranks = int(random.between(2, 11));
    std::vector<RankGraph::Edge> edges;
    for (int64_t i = random.below(3 * ranks); i >= 0; --i)
      edges.push_back({int(random.below(ranks)), int(random.below(ranks)),
                       random.mostly_small(int64_t{1} << 40)});
    const RankGraph graph(ranks, edges);
    const auto sizes = random_sizes(random, ranks, int(random.between(1, std::min(ranks, 4))));
    const Placement seats = placement_of(sizes, random, true);
    const Mapping mapping = map_ranks(graph, seats);
    expect_sound(mapping, graph, seats);
    const int64_t least = least_between(graph, sizes_of(seats));
    EXPECT_LE(mapping.cost.between_nodes, least + least / 20)
        << round << ": " << test::describe(seats);
  }
}

TEST(Mapping, IsNeverWorseThanTheGivenOrder) {
  Random random(3);
  int better = 0;
  for (int round = 0; round < 200; ++round) {
    const Grid grid = random_grid(random, 400);
    const int ranks = grid.ranks();
    const int nodes = int(random.between(1, std::min(ranks, 40)));
    const auto sizes = random.below(2) || ranks % nodes
                           ? random_sizes(random, ranks, nodes)
                           : std::vector<int>(size_t(nodes), ranks / nodes);
    const Placement seats = placement_of(sizes, random, random.below(3) == 0);
    const RankGraph graph = graph_of(grid);
    const Mapping mapping = map_ranks(graph, seats, grid, 2'000'000);
    expect_sound(mapping, graph, seats);
    EXPECT_LE(mapping.cost.between_nodes, mapping.given.between_nodes) << describe(grid, seats);
    better += mapping.cost.between_nodes < mapping.given.between_nodes;
  }
  EXPECT_GT(better, 100);
}

TEST(Mapping, IsTheSameEachTime) {
  Random random(4);
  const Grid grid{.extents = {6, 7, 5}, .periodic = {true, false, true}};
  const Placement seats = placement_of(random_sizes(random, 210, 9), random, true);
  const RankGraph graph = graph_of(grid);
  EXPECT_EQ(map_ranks(graph, seats, grid).seat_of, map_ranks(graph, seats, grid).seat_of);
  EXPECT_EQ(map_ranks(graph, seats).seat_of, map_ranks(graph, seats).seat_of);
}

TEST(Mapping, SeatsNeighboursOnOneNumaNode) {
  // One node whose ranks are dealt out to two NUMA nodes, and messages between 0 and 1, 2 and 3.
  Placement seats(std::vector<int>(4, 0));
  seats.set_places({{0, 1, 0}, {8, 1, 1}, {1, 1, 0}, {9, 1, 1}});
  const std::vector<RankGraph::Edge> edges = {{0, 1, 10}, {2, 3, 10}, {1, 2, 1}};
  const RankGraph graph(4, edges);
  const Mapping mapping = map_ranks(graph, seats);
  expect_sound(mapping, graph, seats);
  EXPECT_EQ(mapping.given.between_numa, 21);
  EXPECT_EQ(mapping.cost.between_numa, 1);
  EXPECT_EQ(mapping.seat_of, (std::vector<int>{0, 2, 1, 3}));
}

TEST(Mapping, LooksAtNodesFirstAndNumaNodesThen) {
  Random random(5);
  for (int round = 0; round < 10; ++round) {
    const Grid grid{.extents = {8, 8}, .periodic = {false, random.below(2) == 0}};
    Placement seats = placement_of({16, 16, 16, 16}, random, random.below(2) == 0);
    std::vector<placement::RankPlace> places;
    for (int rank = 0; rank < 64; ++rank)
      places.push_back({rank, 1, random.below(8) ? seats.local_index(rank) % 2 : -1});
    const RankGraph graph = graph_of(grid);
    const Mapping without = map_ranks(graph, seats, grid);
    seats.set_places(places);
    const Mapping with = map_ranks(graph, seats, grid);
    expect_sound(with, graph, seats);
    EXPECT_EQ(with.cost.between_nodes, without.cost.between_nodes);
  }
}

TEST(Mapping, OfRanksThatSaySmallOrNothing) {
  const Placement one = placement::block(1, 1);
  EXPECT_EQ(map_ranks(RankGraph(1, {}), one).seat_of, std::vector<int>{0});
  const Placement seats = placement::round_robin(3, 2);
  EXPECT_EQ(map_ranks(RankGraph(6, {}), seats).seat_of, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(Mapping, StopsWhenTheEffortIsSpent) {
  Random random(6);
  std::vector<RankGraph::Edge> edges;
  for (int i = 0; i < 40'000; ++i)
    edges.push_back({int(random.below(4000)), int(random.below(4000)), 1});
  const RankGraph graph(4000, edges);
  const Placement seats = placement::round_robin(100, 40);
  for (const int64_t effort : {int64_t{0}, int64_t{1000}, int64_t{100'000}}) {
    Effort left{effort};
    const std::vector<int> sizes(100, 40);
    EXPECT_EQ(bisect(graph, sizes, left).size(), 4000u);
    // A step that has begun is finished: one pass over a pair, or the growth of a half.
    EXPECT_GT(left.left, -20 * graph.ends());
    expect_sound(map_ranks(graph, seats, std::nullopt, effort), graph, seats);
  }
}

TEST(Mapping, OfAHundredThousandRanksIsBlocks) {
  const Grid grid{.extents = {40, 50, 50}, .periodic = {true, true, true}};
  const RankGraph graph = graph_of(grid);
  const Mapping mapping = map_ranks(graph, placement::block(1000, 100), grid);
  EXPECT_EQ(mapping.given.between_nodes, 300'000);
  // 4 x 5 x 5: no box of 100 has a smaller surface.
  EXPECT_EQ(mapping.cost.between_nodes, 130'000);
  EXPECT_EQ(mapping.cost.busiest_node, 260);
}

}  // namespace
}  // namespace haichi::plan
