#include "plan/node_share.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/parts_of_nodes.h"
#include "support/random_placement.h"

namespace haichi::plan {
namespace {

constexpr int64_t kPart = 1000;

/// All of `parts` parts on the first of four nodes.
NodeBytes on_one_node(int parts) {
  return parts_of(std::vector<std::vector<int64_t>>(size_t(parts), {kPart, 0, 0, 0}));
}

const std::vector<int> kOneEach = {1, 1, 1, 1};

int64_t parts_at(const PlacedParts& placed, int node) {
  return std::count(placed.nodes.begin(), placed.nodes.end(), node);
}

TEST(NodeShare, WhatADearLinkWouldCarryStays) {
  const NodeBytes have = on_one_node(40);
  const PlacedParts placed = place_by_cost(have, kOneEach, 0, ByteCosts{.link = 80, .file = 0.3});
  EXPECT_EQ(parts_at(placed, 0), 40);
  EXPECT_EQ(busiest_link(have, placed.nodes), 0);
  EXPECT_EQ(placed.share, 4);
}

TEST(NodeShare, WhereOneAggregatorsFileIsDearNodesShareTheWork) {
  const NodeBytes have = on_one_node(40);
  for (const auto& costs : {std::optional<ByteCosts>(), {{.link = 0.1, .file = 1}}}) {
    const PlacedParts placed = place_by_cost(have, kOneEach, 0, costs);
    EXPECT_EQ(parts_at(placed, 0), 12);  // 1.25 times its share of 10
    EXPECT_EQ(placed.share, kUsualShare);
  }
}

// Three of four parts cross a link that is as dear as a file, or only half of them.
TEST(NodeShare, InBetweenLinkAndFileTakeAsLong) {
  const NodeBytes have = on_one_node(40);
  const ByteCosts costs{.link = 1, .file = 1};
  const PlacedParts placed = place_by_cost(have, kOneEach, 0, costs);
  EXPECT_EQ(parts_at(placed, 0), 20);
  EXPECT_EQ(placed.share, 2);
  EXPECT_EQ(handling_ns(have, placed.nodes, kOneEach, costs), 20 * kPart);
}

TEST(NodeShare, AggregatorsOfANodeShareItsWork) {
  const NodeBytes have = on_one_node(40);
  const ByteCosts costs{.link = 1, .file = 1.5};
  EXPECT_EQ(parts_at(place_by_cost(have, kOneEach, 0, costs), 0), 16);
  EXPECT_EQ(parts_at(place_by_cost(have, {2, 2, 2, 2}, 0, costs), 0), 22);
}

TEST(NodeShare, BehindOnePortFilesTakeTurnsWithMessages) {
  const NodeBytes have = on_one_node(40);
  const PlacedParts whole = place_by_cost(have, kOneEach, 0, ByteCosts{.link = 4, .file = 1});
  EXPECT_EQ(parts_at(whole, 0), 32);
  // Whatever is moved leaves the node once, and so does what is not.
  const ByteCosts one_port{.link = 4, .file = 1, .one_port = true};
  EXPECT_EQ(place_by_cost(have, kOneEach, 0, one_port).share, kUsualShare);
  EXPECT_EQ(handling_ns(have, whole.nodes, kOneEach, one_port), 40 * kPart * 4);
}

TEST(NodeShare, NothingIsGainedWhereAllServersTogetherAreSlow) {
  const NodeBytes have = on_one_node(40);
  const ByteCosts costs{.link = 1, .file = 0.5, .all = 1};
  EXPECT_EQ(place_by_cost(have, kOneEach, 0, costs).share, kUsualShare);
}

TEST(NodeShare, BytesThatAreEverywhereAreHandledAsEver) {
  const NodeBytes have = parts_of(std::vector<std::vector<int64_t>>(40, {10, 10, 10, 10}));
  const PlacedParts placed = place_by_cost(have, kOneEach, 0, ByteCosts{.link = 80, .file = 0.1});
  EXPECT_EQ(placed.nodes, place_by_bytes(have, {true, true, true, true}, 0));
}

TEST(NodeShare, NoShareTakesLongerThanTheUsualOneAndWhoHasNoAggregatorGetsNothing) {
  int moved = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    test::Random random(seed);
    const int nodes = int(random.between(1, 9)), parts = int(random.between(1, 60));
    std::vector<std::vector<int64_t>> bytes;
    for (int p = 0; p < parts; ++p) {
      bytes.emplace_back(size_t(nodes));
      for (int64_t& b : bytes.back()) b = random.below(3) ? 0 : random.between(1, 1000);
    }
    const NodeBytes have = parts_of(bytes);
    std::vector<int> aggregators(static_cast<size_t>(nodes));
    for (int& each : aggregators) each = int(random.below(3));
    aggregators[size_t(random.below(nodes))] = 1;
    const ByteCosts costs{.link = double(random.mostly_small(100)),
                          .file = double(random.mostly_small(100)),
                          .all = random.below(2) ? 0 : double(random.mostly_small(50)),
                          .one_port = random.below(4) == 0};
    const int64_t run = random.between(0, 2000);
    const PlacedParts usual = place_by_cost(have, aggregators, run, std::nullopt);
    const PlacedParts placed = place_by_cost(have, aggregators, run, costs);
    ASSERT_EQ(placed.nodes.size(), size_t(parts));
    for (const int node : placed.nodes) ASSERT_GT(aggregators[size_t(node)], 0) << seed;
    ASSERT_LE(handling_ns(have, placed.nodes, aggregators, costs),
              handling_ns(have, usual.nodes, aggregators, costs))
        << seed;
    moved += placed.nodes != usual.nodes;
  }
  EXPECT_GT(moved, 50);
}

TEST(NodeShare, AMachineTellsWhatBytesCost) {
  machine::Machine machine;
  EXPECT_FALSE(byte_costs(machine, {})) << "its defaults are another machine's";
  ASSERT_TRUE(set_field(machine, "in_gbs", 10));
  ASSERT_TRUE(set_field(machine, "out_gbs", 5));
  EXPECT_FALSE(byte_costs(machine, {})) << "nothing is known of files";
  ASSERT_TRUE(set_field(machine, "client_gbs", 2));
  ASSERT_TRUE(set_field(machine, "request_us", 100));
  const auto measured = byte_costs(machine, {.window = 1'000'000});
  ASSERT_TRUE(measured);
  EXPECT_DOUBLE_EQ(measured->link, 0.2);
  EXPECT_DOUBLE_EQ(measured->file, 0.5 + 0.1);
  EXPECT_EQ(measured->all, 0);
  EXPECT_FALSE(measured->one_port);
  for (const auto& [name, value] :
       {std::pair{"servers", 4.0}, {"server_gbs", 0.5}, {"storage_gbs", 0.0}})
    ASSERT_TRUE(set_field(machine, name, value));
  ASSERT_TRUE(set_field(machine, "request_us", 0));
  const auto told = byte_costs(machine, {.window = 1 << 20});
  ASSERT_TRUE(told);
  EXPECT_NEAR(told->file, 2, 0.1) << "a window is on one server";
  EXPECT_NEAR(told->all, 0.5, 0.01);
  EXPECT_TRUE(told->one_port);
}

}  // namespace
}  // namespace haichi::plan
