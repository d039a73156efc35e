#include "mpiio/ways/read_cost.h"

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

// Pieces that the ranks have in turn: the smaller they are, the more system calls; the more ranks,
// the more each would read for nothing.
TEST(ReadCost, SharingWinsWhereEachRankWouldReadWhatAllWant) {
  const auto cyclic = [](int64_t piece, int64_t ranks) {
    return ReadSize{4 << 20, (4 << 20) / piece, ranks * (4 << 20)};
  };
  for (const int64_t ranks : {2, 16}) {
    EXPECT_LT(cost_alone(cyclic(8192, ranks)), cost_of_exchange(cyclic(8192, ranks)));
    EXPECT_GT(cost_alone(cyclic(64, ranks)), cost_of_exchange(cyclic(64, ranks)));
  }
  // Where there is little to read, meeting costs more than reading twice the bytes.
  const ReadSize little{64 << 10, 1024, 128 << 10};
  EXPECT_LT(cost_alone(little), cost_of_exchange(little));
}

}  // namespace
}  // namespace haichi::mpiio
