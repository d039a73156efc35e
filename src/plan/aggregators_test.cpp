#include "plan/aggregators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "plan/file_domains.h"
#include "support/random_placement.h"

namespace haichi::plan {
namespace {

using placement::Placement;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(LayoutNames, AreThoseOfTheSetting) {
  EXPECT_EQ(layout_from("roundrobin"), Layout::roundrobin);
  EXPECT_EQ(layout_from("packed"), Layout::packed);
  EXPECT_EQ(name_of(Layout::packed), "packed");
  EXPECT_EQ(name_of(Layout::roundrobin), "roundrobin");
  EXPECT_FALSE(layout_from("round-robin"));
}

// Figures 2 and 3: 8 ranks on 2 nodes, all of them aggregators, stripes on 2 servers (OSTs); stripe
// s goes to aggregator s % 8 and server s % 2, and rounds i to iv are pairs of neighbours.
std::vector<std::set<int>> nodes_of_each_round(Layout layout) {
  const Placement figure = placement::block(2, 4);
  const auto chosen = choose_aggregators(figure, layout, 8, 2).ranks;
  std::vector<std::set<int>> rounds;
  for (size_t i = 0; i < chosen.size(); i += 2)
    rounds.push_back({figure.node_of(chosen[i]), figure.node_of(chosen[i + 1])});
  return rounds;
}

TEST(ChooseAggregators, Figure2PackedUsesOneNodePerRound) {
  EXPECT_THAT(choose_aggregators(placement::block(2, 4), Layout::packed, 8, 2).ranks,
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(nodes_of_each_round(Layout::packed),
              ElementsAre(std::set{0}, std::set{0}, std::set{1}, std::set{1}));
}

TEST(ChooseAggregators, Figure3RoundRobinUsesBothNodesInEveryRound) {
  EXPECT_THAT(choose_aggregators(placement::block(2, 4), Layout::roundrobin, 8, 2).ranks,
              ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  const std::set both{0, 1};
  EXPECT_THAT(nodes_of_each_round(Layout::roundrobin), ElementsAre(both, both, both, both));
}

TEST(ChooseAggregators, EachServerIsReachedFromOneNodeInFigure3) {
  const Placement figure = placement::block(2, 4);
  const auto chosen = choose_aggregators(figure, Layout::roundrobin, 8, 2).ranks;
  const int64_t stripe = 1 << 20;
  const FileDomains domains({0, 16 * stripe}, 8, stripe, stripe, 0);
  for (int a = 0; a < 8; ++a)
    for (int64_t c = 0; c < domains.cycles(); ++c)
      EXPECT_EQ(domains.window(a, c).begin / stripe % 2, figure.node_of(chosen[size_t(a)]));
}

TEST(ChooseAggregators, DefaultIsOnePerNodeInBothLayouts) {
  const Placement uneven(std::vector<int>{5, 5, 1, 5, 9, 1});
  for (const Layout layout : {Layout::roundrobin, Layout::packed}) {
    const Aggregators chosen = choose_aggregators(uneven, layout, 0, 0);
    EXPECT_THAT(chosen.ranks, ElementsAre(0, 2, 4));
    EXPECT_EQ(chosen.why, "3 aggregators: one per node (3 nodes), cb_nodes not given");
  }
}

TEST(ChooseAggregators, ANumberAskedForIsCutAtTheRanks) {
  const Placement two = placement::block(2, 2);
  EXPECT_EQ(choose_aggregators(two, Layout::roundrobin, 3, 0).why, "3 aggregators: as asked for");
  const Aggregators cut = choose_aggregators(two, Layout::packed, 64, 7);
  EXPECT_THAT(cut.ranks, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(cut.why, "4 aggregators: 64 asked for, cut at 4 ranks");
  const Aggregators alone = choose_aggregators(placement::block(1, 1), Layout::packed, 2, 0);
  EXPECT_EQ(alone.why, "1 aggregator: 2 asked for, cut at 1 rank");
}

TEST(ChooseAggregators, NodesWithoutRanksLeftAreSkipped) {
  const Placement uneven(std::vector<int>{0, 0, 0, 1, 2, 2});
  EXPECT_THAT(choose_aggregators(uneven, Layout::roundrobin, 6, 0).ranks,
              ElementsAre(0, 3, 4, 1, 5, 2));
  EXPECT_THAT(choose_aggregators(uneven, Layout::packed, 4, 0).ranks, ElementsAre(0, 1, 2, 3));
}

int default_number(int nodes, int stripes) {
  return int(
      choose_aggregators(placement::block(nodes, 2), Layout::roundrobin, 0, stripes).ranks.size());
}

TEST(ChooseAggregators, StripesAreSharedEvenlyByDefault) {
  EXPECT_EQ(default_number(8, 60), 6);    // the example in ROMIO's ad_lustre_aggregate.c
  EXPECT_EQ(default_number(42, 20), 20);  // its other one, with one client per server
  EXPECT_EQ(default_number(4, 1), 1);
  EXPECT_EQ(default_number(4, 7), 1);
  EXPECT_EQ(default_number(4, 4), 4);
  EXPECT_EQ(default_number(64, 64), 64);
  EXPECT_EQ(choose_aggregators(placement::block(4, 2), Layout::roundrobin, 0, 6).why,
            "3 aggregators: largest divisor of 6 stripes with at most one per node (4 nodes), "
            "cb_nodes not given");
  EXPECT_EQ(choose_aggregators(placement::block(4, 2), Layout::roundrobin, 0, 1).why,
            "1 aggregator: one per stripe (1 stripe, 4 nodes), cb_nodes not given");
}

TEST(ChooseAggregators, DefaultForStripesIsTheLargestDivisorThatFits) {
  for (int nodes = 1; nodes <= 40; ++nodes)
    for (int stripes = 1; stripes <= 120; ++stripes) {
      int largest = 1;
      for (int d = 1; d <= std::min(nodes, stripes); ++d)
        if (stripes % d == 0) largest = d;
      ASSERT_EQ(default_number(nodes, stripes), largest) << nodes << " nodes, " << stripes;
    }
}

// ROMIO's cb_config_list "*:2".
TEST(ChooseAggregators, SomeOfEachNode) {
  const Placement unequal(std::vector<int>{0, 0, 0, 1, 2, 2, 2});
  EXPECT_THAT(choose_aggregators(unequal, Layout::packed, 0, 0, 2).ranks,
              ElementsAre(0, 1, 3, 4, 5));
  EXPECT_THAT(choose_aggregators(unequal, Layout::roundrobin, 0, 64, 2).ranks,
              ElementsAre(0, 3, 4, 1, 5));
  EXPECT_THAT(choose_aggregators(unequal, Layout::packed, 3, 0, 2).ranks, ElementsAre(0, 1, 3));
  EXPECT_EQ(choose_aggregators(unequal, Layout::packed, 6, 0, 2).why,
            "5 aggregators: 2 on each of 3 nodes");
}

TEST(ChooseAggregators, RoundRobinIsEvenOverNodesThatStillHaveRanks) {
  test::Random random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const Placement placement = test::random_placement(random, trial % 100 ? 100 : 100'000);
    const int wanted = int(random.mostly_small(placement.ranks()));
    const auto chosen = choose_aggregators(placement, Layout::roundrobin, wanted, 0).ranks;
    ASSERT_EQ(int(chosen.size()), wanted);
    std::vector<int> on_node(size_t(placement.nodes()));
    for (const int rank : chosen) {
      const int node = placement.node_of(rank);
      // Ascending within the node, and so no rank twice.
      ASSERT_EQ(placement.local_index(rank), on_node[size_t(node)]++) << test::describe(placement);
    }
    const int most = *std::max_element(on_node.begin(), on_node.end());
    for (int node = 0; node < placement.nodes(); ++node)
      ASSERT_GE(on_node[size_t(node)], std::min(most - 1, int(placement.ranks_on(node).size())))
          << wanted << " wanted, node " << node << ", " << test::describe(placement);
  }
}

TEST(ChooseAggregators, PackedFillsOneNodeBeforeTheNext) {
  test::Random random(2);
  for (int trial = 0; trial < 1000; ++trial) {
    const Placement placement = test::random_placement(random, 100);
    const int wanted = int(random.between(1, 120));
    std::vector<int> expected;
    for (int node = 0; node < placement.nodes(); ++node)
      for (const int rank : placement.ranks_on(node))
        if (int(expected.size()) < wanted) expected.push_back(rank);
    ASSERT_THAT(choose_aggregators(placement, Layout::packed, wanted, 0).ranks,
                ElementsAreArray(expected));
  }
}

TEST(ChooseAggregators, LayoutsAgreeOnTheSetWhenAllRanksAreAggregators) {
  test::Random random(3);
  for (int trial = 0; trial < 300; ++trial) {
    const Placement placement = test::random_placement(random, 100);
    auto a = choose_aggregators(placement, Layout::roundrobin, placement.ranks(), 0).ranks;
    auto b = choose_aggregators(placement, Layout::packed, placement.ranks(), 0).ranks;
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    ASSERT_EQ(a, b);
  }
}

}  // namespace
}  // namespace haichi::plan
