// A plan for 100,000 ranks must cost next to nothing. What is counted is memory asked for and steps
// taken, not time, so that the test means the same on a loaded machine.
#include <gtest/gtest.h>

#include <vector>

#include "plan/aggregators.h"
#include "plan/file_domains.h"
#include "plan/issue_order.h"
#include "support/allocation_meter.h"

namespace haichi::plan {
namespace {

constexpr int kNodes = 1000, kPerNode = 100, kRanks = kNodes * kPerNode;

using Meter = AllocationMeter;

TEST(PlanScale, TheMeterCounts) {
  const Meter meter;
  std::vector<int> some(1000);
  EXPECT_EQ(meter.allocations(), 1);
  EXPECT_EQ(meter.bytes(), 4000);
}

TEST(PlanScale, APlacementIsAFewIntegersARank) {
  std::vector<int> ids(kRanks);
  for (int r = 0; r < kRanks; ++r) ids[size_t(r)] = r / kPerNode;
  const Meter meter;
  const placement::Placement placement(ids);
  EXPECT_LE(meter.bytes(), 3 * int64_t{sizeof(int)} * kRanks + 128 * kNodes);
}

TEST(PlanScale, AnIssueOrderTakesNoMemory) {
  const placement::Placement placement = placement::block(kNodes, kPerNode);
  const Meter meter;
  int64_t sum = 0;
  for (const IssueOrder order :
       {IssueOrder::rank, IssueOrder::pairwise, IssueOrder::nd_shift, IssueOrder::nd_rank_shift}) {
    const PeerOrder peers(placement, order, kRanks / 2);
    for (int k = 0; k < kRanks; ++k) sum += peers.peer(k) - peers.position_of(k);
  }
  EXPECT_EQ(sum, 0);  // both are permutations of the ranks
  EXPECT_EQ(meter.allocations(), 0);
}

// Paper 000's file (768 x 48,000 regions of 4,000 bytes) on 100,000 ranks: what one rank and one
// aggregator compute before the first message.
TEST(PlanScale, AllOfATwoPhasePlanOfOneRankIsSmall) {
  const placement::Placement placement = placement::round_robin(kNodes, kPerNode);
  const Meter meter;
  const auto chosen = choose_aggregators(placement, Layout::roundrobin, 0, 0);
  ASSERT_EQ(chosen.ranks.size(), size_t{kNodes});
  const PeerOrder peers(placement, IssueOrder::nd_rank_shift, 4711);
  EXPECT_EQ(restricted(peers, chosen.ranks).size(), size_t{kNodes});
  const FileDomains domains({0, 147'456'000'000}, kNodes, 16 << 20, 0, 1 << 20);
  EXPECT_EQ(domains.cycles(), 9);
  int64_t bytes = 0;
  for (int64_t c = 0; c < domains.cycles(); ++c) bytes += domains.window(500, c).size();
  EXPECT_EQ(bytes, domains.hull(500).size());
  EXPECT_LE(meter.bytes(), 32 * kNodes);  // of the aggregators, nothing of the ranks
  EXPECT_LE(meter.allocations(), 10);
}

TEST(PlanScale, EveryRankAsAnAggregatorIsLinear) {
  const placement::Placement placement = placement::block(kNodes, kPerNode);
  const Meter meter;
  EXPECT_EQ(choose_aggregators(placement, Layout::roundrobin, kRanks, 0).ranks.size(),
            size_t{kRanks});
  EXPECT_LE(meter.bytes(), int64_t{sizeof(int)} * (kRanks + kNodes) + 256);
}

}  // namespace
}  // namespace haichi::plan
