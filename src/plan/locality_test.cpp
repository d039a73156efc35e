#include "plan/locality.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/parts_of_nodes.h"
#include "support/random_placement.h"

namespace haichi::plan {
namespace {

TEST(Locality, SlabsOfOneNodeEachStayThere) {
  const NodeBytes have =
      parts_of({{0, 0, 9}, {9, 0, 0}, {0, 9, 0}, {0, 0, 9}, {9, 0, 0}, {0, 9, 0}});
  const auto nodes = place_by_bytes(have, {true, true, true}, 0);
  EXPECT_EQ(nodes, (std::vector<int>{2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(busiest_link(have, nodes), 0);
  EXPECT_EQ(busiest_link(have, {0, 0, 1, 1, 2, 2}), 18);
}

TEST(Locality, WhatMustCrossIsWhatTheFullestNodeOfAPartLacks) {
  EXPECT_EQ(least_between(parts_of({{0, 0, 9}, {9, 0, 0}})), 0);
  EXPECT_EQ(least_between(parts_of({{5, 3, 1}, {2, 2, 2}})), 4 + 4);
  EXPECT_EQ(least_between({}), 0);
}

TEST(Locality, ANodeWithEverythingSharesTheWorkAndWhoServesNotGetsNone) {
  const NodeBytes have = parts_of(std::vector<std::vector<int64_t>>(12, {100, 0, 0}));
  const auto all = place_by_bytes(have, {true, true, true}, 0);
  EXPECT_EQ(std::count(all.begin(), all.end(), 0), 5);  // 1.25 times its share of 4
  const auto others = place_by_bytes(have, {false, true, true}, 0);
  EXPECT_EQ(std::count(others.begin(), others.end(), 0), 0);
  EXPECT_EQ(std::count(others.begin(), others.end(), 1), 6);
}

TEST(Locality, BytesThatAreEverywhereAreSharedOutEvenly) {
  const NodeBytes have = parts_of(std::vector<std::vector<int64_t>>(40, {10, 10, 10, 10}));
  const auto nodes = place_by_bytes(have, {true, true, true, true}, 0);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(std::count(nodes.begin(), nodes.end(), n), 10);
  EXPECT_EQ(busiest_link(have, nodes), 300);
}

TEST(Locality, AnEqualNodeGoesOnForARunAndNotForLong) {
  const NodeBytes have = parts_of(std::vector<std::vector<int64_t>>(256, {10, 10, 10, 10}));
  auto changes = [&](int64_t run) {
    const auto nodes = place_by_bytes(have, {true, true, true, true}, run);
    int changed = 0;
    for (size_t p = 1; p < nodes.size(); ++p) changed += nodes[p] != nodes[p - 1];
    for (int n = 0; n < 4; ++n) {
      const auto parts = std::count(nodes.begin(), nodes.end(), n);
      EXPECT_LE(parts, 64 + 64 / 8 + 1);
      EXPECT_GE(parts, 64 - 64 / 8 - 1);
    }
    return changed;
  };
  EXPECT_EQ(changes(0), changes(64 * 40 / 32));
  EXPECT_LT(changes(64 * 40 / 16), changes(0));
  EXPECT_LT(changes(64 * 40 / 8), changes(64 * 40 / 16));
  EXPECT_EQ(changes(INT64_MAX), changes(64 * 40 / 8));
}

TEST(Locality, AnyPartHasAServerAndNoNodeFarMoreThanItsShare) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    test::Random random(seed);
    const int nodes = int(random.between(1, 9)), parts = int(random.between(1, 60));
    NodeBytes have = parts_of({});
    int64_t total = 0, largest = 0;
    std::vector<std::vector<int64_t>> bytes;
    for (int p = 0; p < parts; ++p) bytes.emplace_back(static_cast<size_t>(nodes));
    for (auto& part : bytes) {
      for (int64_t& b : part) b = random.below(3) ? 0 : random.between(1, 1000);
      const int64_t size = std::accumulate(part.begin(), part.end(), int64_t{0});
      total += size;
      largest = std::max(largest, size);
    }
    have = parts_of(bytes);
    std::vector<bool> serves(static_cast<size_t>(nodes));
    for (int n = 0; n < nodes; ++n) serves[size_t(n)] = random.below(2);
    serves[size_t(random.below(nodes))] = true;
    const auto placed = place_by_bytes(have, serves, 0);
    ASSERT_EQ(placed.size(), size_t(parts));
    std::vector<int64_t> load(static_cast<size_t>(nodes));
    for (int p = 0; p < parts; ++p) {
      ASSERT_TRUE(serves[size_t(placed[size_t(p)])]) << seed;
      load[size_t(placed[size_t(p)])] += have.parts[size_t(p)].size();
    }
    const int64_t servers = std::count(serves.begin(), serves.end(), true);
    for (const int64_t l : load) ASSERT_LE(l, total * 5 / 4 / servers + largest + 1) << seed;
  }
}

}  // namespace
}  // namespace haichi::plan
