// What a rank of 100,000 asks memory for in a collective access in two phases. Bytes are counted,
// whether given back or not, so that the test means the same on a loaded machine.
#include <gtest/gtest.h>

#include <vector>

#include "mpiio/agreement/node_agreement.h"
#include "mpiio/agreement/node_letters.h"
#include "mpiio/twophase/two_phase.h"
#include "mpiio/twophase/two_phase_schedule.h"
#include "support/allocation_meter.h"

namespace haichi::mpiio {
namespace {

constexpr int kPerNode = 128, kNodes = 782, kRanks = kNodes * kPerNode;

int64_t bytes_of(auto&& work) {
  const AllocationMeter meter;
  work();
  return meter.bytes();
}

// Paper 000's regions of 4,000 bytes, one after the other of all ranks.
Access access_of(int rank) {
  return {{int64_t{rank} * 4000, Pattern::block(4000), int64_t{kRanks} * 4000}, 0, 16 * 4000};
}

Announcement announced(const Access& access) {
  Announcement a = announcement_of(access);
  a.window = 1 << 20;
  return a;
}

TEST(AccessScale, TheMeterCounts) {
  EXPECT_EQ(bytes_of([] { std::vector<int> some(1000); }), 4000);
}

TEST(AccessScale, AnyRankPaysForNodes) {
  const placement::Placement placement = placement::block(kNodes, kPerNode);
  const TwoPhaseOptions options;
  const Demand together{.hull = {0, int64_t{kRanks} * 16 * 4000},
                        .spans = int64_t{kRanks} * kRanks * 15 * 4000,
                        .bytes = int64_t{kRanks} * 16 * 4000,
                        .blocks = int64_t{kRanks} * 16,
                        .ranks = kRanks};
  const Access own = access_of(kRanks / 2);
  const AccessList nobody;
  const int64_t bytes = bytes_of([&] {
    const auto aggregators = aggregators_for(placement, options);
    const Announcement mine = announced(own);
    NodeAgreement talks(placement, kRanks / 2 + 1, mine, aggregators.ranks);
    plan::Step step;
    while (talks.next(step)) continue;
    const TwoPhasePlan plan = plan_two_phase(placement, options, Direction::write, together);
    EXPECT_GT(plan.domains.cycles(), 1);
    TwoPhaseSchedule schedule(placement, plan, kRanks / 2 + 1, own, nobody, true);
    while (schedule.next(step)) continue;
  });
  EXPECT_LE(bytes, 64 << 10);
}

TEST(AccessScale, ASpeakerPaysForNodesAndItsOwnRanks) {
  const placement::Placement placement = placement::block(kNodes, kPerNode);
  const Announcement mine = announced(access_of(kPerNode - 1));
  const int64_t bytes = bytes_of([&] {
    const std::vector<int> aggregators = {0};
    NodeAgreement talks(placement, kPerNode - 1, mine, aggregators);
    ASSERT_TRUE(talks.speaks());
    plan::Step step;
    int64_t messages = 0;
    while (talks.next(step)) messages += step.kind == plan::Step::Kind::send;
    EXPECT_EQ(messages, kPerNode - 1 + 10);  // 10 rounds for 782 nodes
  });
  EXPECT_LE(bytes, int64_t(kPerNode * sizeof(Announcement) + kNodes * sizeof(NodeWord)) +
                       4 * kPerNode * int64_t(sizeof(plan::Step)) + 1024);  // which grow twofold
}

TEST(AccessScale, ALetterTellsOfRanksWithBytesAlone) {
  std::vector<Announcement> of_node;
  for (int r = 0; r < kPerNode; ++r) of_node.push_back(announced(access_of(r)));
  const NodeLetters letters(of_node);
  EXPECT_EQ(letters.to({kPerNode * 4000, kRanks * int64_t{4000}}).size(), 0u);
  EXPECT_GT(letters.to({0, 4000}).size(), 0u);
  EXPECT_LE(letters.to({0, 4000}).size(), sizeof(Announcement));
}

}  // namespace
}  // namespace haichi::mpiio
