// Against formulas (2) and (3) of paper 004 where those hold. That the links are those of the
// simulated network, message by message, is src/sim/network_test.cpp's to say.
#include "topology/link_load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/random_placement.h"

namespace haichi::topology {
namespace {

using Places = std::vector<int>;

Places full(const Shape& shape) {
  Places places(size_t(shape.places()));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

int64_t uniform(const std::string& text, const Places& places) {
  return LinkLoads(*parse_shape(text), places).uniform(std::vector<int64_t>(places.size(), 1));
}
int64_t uniform(const std::string& text) { return uniform(text, full(*parse_shape(text))); }

// Everybody's message `distance` nodes on.
int64_t shifted(const std::string& text, int distance) {
  const Shape shape = *parse_shape(text);
  const int nodes = int(shape.places());
  std::vector<Flow> flows;
  for (int node = 0; node < nodes; ++node) flows.push_back({node, (node + distance) % nodes, 1});
  return LinkLoads(shape, full(shape)).of(flows).messages;
}

// Formula (2): P / max L links join the halves of a cuboid, and (P / 2)^2 messages go each way.
TEST(LinkLoads, TheHalvesOfACuboidAreJoinedByTheLinksOfFormula2) {
  for (const auto& [text, longest, nodes] :
       {std::tuple("mesh:4x3x2", 4, 24), std::tuple("mesh:8x3x1", 8, 24),
        std::tuple("mesh:4x3x4", 4, 48), std::tuple("mesh:8x8x6", 8, 384),
        std::tuple("mesh:3x16x2", 16, 96), std::tuple("mesh:2x3x2x2x3x6", 6, 432)}) {
    const int64_t links = nodes / longest;
    EXPECT_EQ(uniform(text) * links, int64_t{nodes} * nodes / 4) << text;
  }
}

// Formula (3): as many as half of the longest extent share a link where everybody's partner is in
// the other half; c is 1 over that. Over all the partners of an exchange it is half as many.
TEST(LinkLoads, FormulaThreeIsTheWorstStepOfAnExchange) {
  EXPECT_EQ(shifted("mesh:8x3x1", 4 * 3), 4);
  EXPECT_EQ(shifted("mesh:16x3x2", 8 * 6), 8);
  EXPECT_EQ(shifted("mesh:96", 48), 48);
  EXPECT_EQ(uniform("mesh:96"), 48 * 48);  // of 96 steps
}

// "If the longest dimension is a torus, c is twice as large": exactly so where no two ways are
// equally long.
TEST(LinkLoads, ATorusHalvesTheLoad) {
  for (const char* box : {"5", "9x3", "3x7x5", "3x3x3x11"})
    EXPECT_EQ(2 * uniform(std::string("torus:") + box), uniform(std::string("mesh:") + box)) << box;
  // Of two equal ways the one up is taken: 4 * 5 / 2 pairs of a ring of 8, and not 8 * 8 / 8.
  EXPECT_EQ(uniform("torus:8"), 10);
}

TEST(LinkLoads, APartOfABoxIsWhatItsMessagesMeet) {
  // Six of a torus of 8: what goes from one end to the other goes round outside of the job.
  EXPECT_EQ(uniform("torus:8", {0, 1, 2, 3, 4, 5}), 8);
  EXPECT_EQ(uniform("mesh:8", {0, 1, 2, 3, 4, 5}), 9);
  EXPECT_EQ(uniform("torus:8", {6, 7, 0, 1}), uniform("torus:8", {0, 1, 2, 3}));
  // A hole makes the others' way longer.
  EXPECT_EQ(uniform("mesh:5", {0, 1, 3, 4}), 4);
  EXPECT_EQ(uniform("mesh:5x2", {0, 1, 2, 3, 6, 7, 8, 9}), 8);
}

TEST(LinkLoads, RanksOfANodeCountAsManyTimes) {
  const Shape line = *parse_shape("mesh:4");
  EXPECT_EQ(LinkLoads(line, full(line)).uniform(std::vector<int64_t>{3, 1, 2, 5}), 6 * 5);
  const Shape tree = *parse_shape("fattree:2:2");  // one link up from each two nodes
  EXPECT_EQ(LinkLoads(tree, Places{0, 1, 2, 3}).uniform(std::vector<int64_t>{3, 1, 2, 5}), 4 * 7);
  const Shape crossbar;
  EXPECT_EQ(LinkLoads(crossbar, Places{0, 1}).uniform(std::vector<int64_t>{3, 1}), 0);
}

// Where it sits does not matter to a job on a torus.
TEST(LinkLoads, ATorusLooksTheSameFromEverywhere) {
  test::Random random(3);
  const Shape shape = *parse_shape("torus:6x4x5");
  for (int round = 0; round < 200; ++round) {
    Places places = full(shape);
    random.shuffle(places);
    places.resize(size_t(random.between(1, 120)));
    std::vector<int64_t> weights;
    for (size_t i = 0; i < places.size(); ++i) weights.push_back(random.between(1, 4));
    const int by = int(random.below(6));
    Places moved;
    for (const int place : places) moved.push_back((place + by * 20) % 120);
    ASSERT_EQ(LinkLoads(shape, places).uniform(weights), LinkLoads(shape, moved).uniform(weights));
  }
}

TEST(LinkLoads, AWholeMachineOfManyNodesIsALittleWork) {
  const Shape shape = *parse_shape("torus:24x23x24x2x3x2");
  test::Random random(5);
  Places places = full(shape);
  random.shuffle(places);
  places.resize(4096);
  // Nothing here looks at a clock: 16 million pairs of some 20 links would be felt.
  const LinkLoads loads(shape, places);
  for (int round = 0; round < 20; ++round)
    EXPECT_GT(loads.uniform(std::vector<int64_t>(4096, 1)), 4096);
}

}  // namespace
}  // namespace haichi::topology
