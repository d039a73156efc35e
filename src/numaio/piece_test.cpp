#include "numaio/piece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace haichi::numaio {
namespace {

constexpr int64_t kPage = 4096;

machine::NumaPaths four_nodes() {
  std::vector<int> distances;
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) distances.push_back(a == b ? 10 : 21);
  return machine::assumed_paths({2, 2, 2, 2}, distances);
}

PageMap map_of(std::vector<Segment> segments) { return PageMap{std::move(segments), 0}; }

TEST(Demand, BothMapsAreJoinedAtTheirBorders) {
  const PageMap source = map_of({{0, 4, 0}, {4, 4, 1}}), target = map_of({{0, 2, 2}, {2, 7, 3}});
  const Demand demand = demand_of({8 * kPage - 200, &source, &target, 0, 100, kPage, 0}, 4);
  ASSERT_EQ(demand.stretches.size(), 3u);
  EXPECT_EQ(demand.stretches[0].end, 2 * kPage - 100);
  EXPECT_EQ(demand.stretches[1].end, 4 * kPage);
  EXPECT_EQ(demand.stretches[2].end, 8 * kPage - 200);
  EXPECT_EQ(demand.loads[2].source, 1);
  EXPECT_EQ(demand.loads[2].target, 3);
}

TEST(Demand, UntouchedMemoryIsForTheCallersNodeAlone) {
  const PageMap source, target = map_of({{0, 4, kUntouched}, {4, 4, 1}});
  const Demand demand = demand_of({8 * kPage, &source, &target, 0, 0, kPage, 3}, 4);
  ASSERT_EQ(demand.loads.size(), 2u);
  EXPECT_EQ(demand.loads[0].only, 3);
  EXPECT_EQ(demand.loads[0].source, kFollows);
  EXPECT_EQ(demand.loads[1].only, -1);
  Splitter splitter(four_nodes());
  const Split split = splitter.plan(demand.loads);
  for (const Share& share : split.shares) {
    if (share.load == 0) {
      EXPECT_EQ(share.node, 3);
    }
  }
}

TEST(Cut, EveryByteIsInOnePieceOfItsNode) {
  std::mt19937 draw(7);
  const auto below = [&](int n) { return int(draw() % unsigned(n)); };
  for (int i = 0; i < 200; ++i) {
    std::vector<Segment> one, two;
    for (int64_t at = 0, some; at < 300; at += some) {
      some = 1 + below(90);
      one.push_back({at, some, below(6) - 2 == -2 ? int(kInterleaved) : below(4)});
      two.push_back({at, some, below(4)});
    }
    const PageMap source = map_of(one), target = below(2) ? map_of(two) : PageMap{};
    const int64_t bytes = 1 + below(300 * int(kPage) - 5000);
    const Demand demand = demand_of({bytes, &source, &target, below(4096), 17, kPage, 0}, 4);
    Splitter splitter(four_nodes());
    const Split split = splitter.plan(demand.loads);
    const int64_t origin = below(10000);
    const auto pieces = cut(demand, split, 4, origin, kPage, 16 * kPage);
    std::vector<Piece> all;
    for (const auto& each : pieces) all.insert(all.end(), each.begin(), each.end());
    std::sort(all.begin(), all.end(),
              [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    int64_t at = 0;
    for (const Piece& piece : all) {
      EXPECT_EQ(piece.begin, at);
      EXPECT_GT(piece.bytes, 0);
      EXPECT_LE(piece.bytes, 17 * kPage);
      at += piece.bytes;
    }
    EXPECT_EQ(at, bytes);
  }
}

}  // namespace
}  // namespace haichi::numaio
