#include "numaio/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace haichi::numaio {
namespace {

using machine::NumaPaths;
using machine::Route;

// Paper 003, Fig. 4: four nodes in a ring, the opposite ones two hops away.
NumaPaths ring(int cores = 8) {
  std::vector<int> distances;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) distances.push_back(a == b ? 10 : a + b == 3 ? 31 : 21);
  return machine::assumed_paths({cores, cores, cores, cores}, distances);
}

double bytes_at(const Split& split, int node) {
  double sum = 0;
  for (const Share& each : split.shares) sum += each.node == node ? each.bytes : 0;
  return sum;
}

TEST(Splitter, BytesOnEachNodeStayThere) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{0, -1, 1e9}, {1, -1, 1e9}, {2, -1, 1e9}, {3, -1, 1e9}};
  const Split split = splitter.plan(loads);
  EXPECT_NEAR(split.route_bytes[size_t(Route::local)], 4e9, 1);
  EXPECT_THAT(split.threads, testing::ElementsAre(6, 6, 6, 6));  // the controllers are full then
}

TEST(Splitter, BytesOfOneNodeAreHelpedByNearOnes) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{0, kFollows, 4e9}};
  const Split split = splitter.plan(loads);
  EXPECT_GT(bytes_at(split, 0), bytes_at(split, 1));
  EXPECT_GT(split.route_bytes[size_t(Route::pull)], 1e9);
  EXPECT_EQ(split.route_bytes[size_t(Route::push)], 0);
  EXPECT_EQ(bytes_at(split, 3), 0);  // two hops, and not needed
  EXPECT_LT(split.threads[0] + split.threads[1] + split.threads[2], 14);
}

TEST(Splitter, WhereBothEndsAreGivenThreadsWriteAtHome) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{0, 1, 1e9}, {1, 0, 1e9}, {2, 3, 1e9}, {3, 2, 1e9}};
  const Split split = splitter.plan(loads);
  EXPECT_GT(split.route_bytes[size_t(Route::pull)], 0.95 * 4e9);
}

TEST(Splitter, ANodeWithoutCoresIsServedByItsNeighbours) {
  NumaPaths paths = ring();
  paths.set_cores(2, 0);
  Splitter splitter(paths);
  const std::vector<Load> loads = {{2, kFollows, 1e9}};
  const Split split = splitter.plan(loads);
  EXPECT_EQ(bytes_at(split, 2), 0);
  EXPECT_NEAR(bytes_at(split, 0) + bytes_at(split, 3) + bytes_at(split, 1), 1e9, 2);
  EXPECT_EQ(split.threads[2], 0);
}

TEST(Splitter, WhatBelongsToOneNodeGoesNowhereElse) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{0, 3, 3e9, 3}, {0, 0, 1e6}};
  const Split split = splitter.plan(loads);
  for (const Share& each : split.shares) {
    if (each.load == 0) {
      EXPECT_EQ(each.node, 3);
    }
  }
}

TEST(Splitter, SpreadPagesAreMovedByAll) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{kSpread, kFollows, 4e9}};
  const Split split = splitter.plan(loads);
  for (int node = 0; node < 4; ++node) EXPECT_NEAR(bytes_at(split, node), 1e9, 0.5e9);
}

TEST(Splitter, EvenOneByteIsSomebodys) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{kSpread, kFollows, 1}, {kSpread, 2, 1e9}, {1, kFollows, 1}};
  const Split split = splitter.plan(loads);
  std::vector<int> shares(3, 0);
  for (const Share& each : split.shares) ++shares[each.load];
  EXPECT_THAT(shares, testing::Each(testing::Gt(0)));
}

TEST(Splitter, ThreadsAreLimited) {
  Splitter splitter(ring());
  const std::vector<Load> loads = {{0, -1, 1e9}, {1, -1, 1e9}, {2, -1, 1e9}, {3, -1, 1e9}};
  EXPECT_THAT(splitter.plan(loads, 6).threads, testing::UnorderedElementsAre(1, 1, 2, 2));
  EXPECT_THAT(splitter.plan(loads, 1).threads, testing::ElementsAre(1, 1, 1, 1));
}

TEST(Splitter, NothingIsNoPlan) {
  Splitter splitter(ring());
  EXPECT_TRUE(splitter.plan(std::vector<Load>{}).shares.empty());
}

}  // namespace
}  // namespace haichi::numaio
