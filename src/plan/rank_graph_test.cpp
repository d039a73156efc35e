#include "plan/rank_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "support/random_placement.h"

namespace haichi::plan {
namespace {

std::map<int, int64_t> neighbours(const RankGraph& graph, int rank) {
  std::map<int, int64_t> found;
  for (const auto& each : graph.of(rank)) EXPECT_TRUE(found.emplace(each.rank, each.weight).second);
  return found;
}

using Weights = std::map<int, int64_t>;

TEST(RankGraph, JoinsWhatIsSaidTwiceAndLeavesOutWhatMovesNothing) {
  const std::vector<RankGraph::Edge> edges = {{0, 1, 5}, {1, 0, 2}, {2, 2, 9},
                                              {0, 3, 0}, {3, 1, 1}, {0, 1, 1}};
  const RankGraph graph(4, edges);
  EXPECT_EQ(neighbours(graph, 0), (Weights{{1, 8}}));
  EXPECT_EQ(neighbours(graph, 1), (Weights{{0, 8}, {3, 1}}));
  EXPECT_EQ(neighbours(graph, 2), (Weights{}));
  EXPECT_EQ(neighbours(graph, 3), (Weights{{1, 1}}));
  EXPECT_EQ(graph.ends(), 4);
}

TEST(RankGraph, AmongSomeRanksHasTheirEdges) {
  const std::vector<RankGraph::Edge> edges = {{0, 1, 1}, {1, 3, 2}, {3, 4, 3}, {4, 0, 4}};
  const RankGraph part = RankGraph(5, edges).among(std::vector<int>{1, 3, 4});
  EXPECT_EQ(part.ranks(), 3);
  EXPECT_EQ(neighbours(part, 0), (Weights{{1, 2}}));
  EXPECT_EQ(neighbours(part, 1), (Weights{{0, 2}, {2, 3}}));
}

TEST(RankGraph, OfAGridHasTheLastDimensionFastest) {
  const RankGraph graph =
      graph_of({.extents = {2, 3}, .periodic = {false, true}, .weights = {7, 1}});
  EXPECT_EQ(neighbours(graph, 0), (Weights{{1, 1}, {2, 1}, {3, 7}}));
  EXPECT_EQ(neighbours(graph, 4), (Weights{{1, 7}, {3, 1}, {5, 1}}));
}

TEST(RankGraph, AroundTwoRanksThereAreTwoEdgesAndAroundOneNone) {
  const RankGraph graph = graph_of({.extents = {2, 1}, .periodic = {true, true}});
  EXPECT_EQ(neighbours(graph, 0), (Weights{{1, 4}}));
}

}  // namespace
}  // namespace haichi::plan
