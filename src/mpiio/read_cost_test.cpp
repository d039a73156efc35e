#include "mpiio/read_cost.h"

#include <gtest/gtest.h>

namespace haichi::mpiio {
namespace {

TEST(ReadCost, ManySmallPiecesAreWorthSieving) {
  EXPECT_TRUE(worth_sieving({4000, 100, 16'000}));
  EXPECT_FALSE(worth_sieving({100, 1, 100})) << "a single piece has nothing between";
  EXPECT_FALSE(worth_sieving({100 << 20, 100, 200 << 20})) << "large pieces";
  EXPECT_FALSE(worth_sieving({4000, 100, 10 << 20})) << "more holes than pieces";
  EXPECT_FALSE(worth_sieving({4000, 100, 0})) << "not known";
  EXPECT_FALSE(worth_sieving({0, 0, 0}));
}

// 64-byte pieces that the ranks have in turn: the more ranks, the more each would read for nothing.
TEST(ReadCost, SharingWinsWhereEachRankWouldReadWhatAllWant) {
  const auto cyclic = [](int64_t ranks) {
    return ReadSize{4 << 20, (4 << 20) / 64, ranks * (4 << 20)};
  };
  EXPECT_LT(cost_alone(cyclic(2)), cost_of_exchange(cyclic(2)));
  EXPECT_GT(cost_alone(cyclic(16)), cost_of_exchange(cyclic(16)));
}

}  // namespace
}  // namespace haichi::mpiio
