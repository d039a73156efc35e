#include "placement/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace haichi::placement {
namespace {

using ::testing::ElementsAre;

TEST(Placement, NumbersNodesAsTheyAppear) {
  const Placement p(std::vector<int>{70, -3, 70, 5}, {"a", "b", "c"});
  EXPECT_EQ(p.ranks(), 4);
  EXPECT_EQ(p.nodes(), 3);
  EXPECT_THAT(p.ranks_on(0), ElementsAre(0, 2));
  EXPECT_THAT(p.ranks_on(1), ElementsAre(1));
  EXPECT_THAT(p.by_node(), ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(p.local_index(2), 1);
  EXPECT_EQ(p.node_name(2), "c");
  EXPECT_TRUE(p.same_node(0, 2));
  EXPECT_FALSE(p.same_node(0, 1));
}

TEST(Placement, NamesNodesThatHaveNoName) {
  EXPECT_EQ(block(2, 2).node_name(1), "node1");
  EXPECT_EQ(Placement().nodes(), 0);
}

TEST(Placement, SyntheticOnes) {
  EXPECT_THAT(block(2, 3).ranks_on(1), ElementsAre(3, 4, 5));
  EXPECT_THAT(round_robin(2, 3).ranks_on(1), ElementsAre(1, 3, 5));
}

TEST(Subset, KeepsNamesAndPlaces) {
  Placement p(std::vector<int>{0, 0, 1, 1, 2, 2}, {"a", "b", "c"});
  p.set_places({{0}, {1}, {2}, {3}, {4}, {5}});
  const Placement part = p.subset(std::vector<int>{5, 2, 4});
  EXPECT_EQ(part.nodes(), 2);
  EXPECT_EQ(part.node_name(0), "c");
  EXPECT_EQ(part.node_name(1), "b");
  EXPECT_THAT(part.ranks_on(0), ElementsAre(0, 2));
  EXPECT_EQ(part.places()[0].core, 5);
  EXPECT_EQ(part.places()[2].core, 4);
}

TEST(Subset, KeepsAddresses) {
  Placement all(std::vector<int>{0, 1, 2, 1});
  EXPECT_EQ(all.node_address(1), "");
  all.set_node_addresses({"0,0", "0,1", ""});
  const Placement part = all.subset(std::vector<int>{3, 2});
  EXPECT_EQ(part.node_address(0), "0,1");
  EXPECT_EQ(part.node_address(1), "");
}

TEST(Subset, OfRandomRanksAgreesOnWhoSharesANode) {
  std::mt19937 random(42);
  for (int i = 0; i < 300; ++i) {
    std::vector<int> node_of_rank(1 + random() % 100);
    for (int& node : node_of_rank) node = int(random() % 12);
    const Placement p(node_of_rank);
    std::vector<int> ranks(node_of_rank.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    std::shuffle(ranks.begin(), ranks.end(), random);
    ranks.resize(1 + random() % ranks.size());
    const Placement part = p.subset(ranks);
    ASSERT_EQ(part.ranks(), int(ranks.size()));
    for (int a = 0; a < part.ranks(); ++a)
      for (int b = 0; b < part.ranks(); ++b)
        ASSERT_EQ(part.same_node(a, b), p.same_node(ranks[size_t(a)], ranks[size_t(b)]));
    for (int node = 0; node < part.nodes(); ++node) {
      const auto on = part.ranks_on(node);
      ASSERT_FALSE(on.empty());
      ASSERT_TRUE(std::is_sorted(on.begin(), on.end()));
      for (size_t j = 0; j < on.size(); ++j) ASSERT_EQ(part.local_index(on[j]), int(j));
    }
  }
}

}  // namespace
}  // namespace haichi::placement
