#include "mpiio/twophase/domains_by_bytes.h"

#include <gmock/gmock.h>

#include "mpiio/twophase/two_phase.h"

namespace haichi::mpiio {
namespace {

using testing::HasSubstr;

constexpr int64_t kSlab = 1 << 20;

/// A plan of what `accesses` want, with 4 ranks on each of 4 nodes.
TwoPhasePlan plan_of(const placement::Placement& placement, const std::vector<Access>& accesses,
                     const TwoPhaseOptions& options) {
  std::vector<RankDemand> demands;
  for (const Access& a : accesses) demands.push_back(demand_of(a));
  return plan_two_phase(placement, options, Direction::write, demands);
}

/// Bytes that each rank has in windows of aggregators of other nodes.
int64_t crossing(const placement::Placement& placement, const TwoPhasePlan& plan,
                 const std::vector<Access>& accesses) {
  int64_t bytes = 0;
  for (int a = 0; a < plan.domains.aggregators(); ++a)
    for (int64_t c = 0; c < plan.domains.cycles(); ++c) {
      const plan::Extent window = plan.domains.window(a, c);
      if (window.empty()) continue;
      for (int r = 0; r < placement.ranks(); ++r)
        if (!placement.same_node(r, plan.aggregators.ranks[size_t(a)]))
          bytes += accesses[size_t(r)].position_of(window.end) -
                   accesses[size_t(r)].position_of(window.begin);
    }
  return bytes;
}

std::vector<Access> slabs(int ranks) {
  std::vector<Access> accesses;
  for (int r = 0; r < ranks; ++r) accesses.emplace_back(View{}, r * kSlab, kSlab);
  return accesses;
}

TEST(DomainsByBytes, SlabsCrossNoNetworkHoweverTheRanksAreDealt) {
  const auto accesses = slabs(16);
  for (const auto& placement : {placement::block(4, 4), placement::round_robin(4, 4)}) {
    TwoPhaseOptions options;
    const TwoPhasePlan plan = plan_of(placement, accesses, options);
    EXPECT_EQ(crossing(placement, plan, accesses), 0);
    options.keep_local = false;
    const TwoPhasePlan even = plan_of(placement, accesses, options);
    EXPECT_EQ(crossing(placement, even, accesses),
              placement == placement::block(4, 4) ? 0 : 12 * kSlab);
  }
}

TEST(DomainsByBytes, SaysWhyAndCoversEveryByteOnce) {
  const auto accesses = slabs(16);
  const TwoPhasePlan plan = plan_of(placement::round_robin(4, 4), accesses, {});
  EXPECT_THAT(plan.why,
              testing::Contains(HasSubstr("the busiest link carries 0 bytes instead of")));
  std::vector<plan::Extent> windows;
  for (int a = 0; a < plan.domains.aggregators(); ++a)
    for (int64_t c = 0; c < plan.domains.cycles(); ++c)
      if (const auto window = plan.domains.window(a, c); !window.empty()) {
        EXPECT_LE(window.size(), plan.cb_slot_bytes);
        windows.push_back(window);
      }
  std::sort(windows.begin(), windows.end(),
            [](const auto& x, const auto& y) { return x.begin < y.begin; });
  int64_t at = 0;
  for (const auto& window : windows) {
    EXPECT_EQ(window.begin, at);
    at = window.end;
  }
  EXPECT_EQ(at, 16 * kSlab);
}

/// The ranks of the first node take turns by pieces; the others have nothing.
std::vector<Access> all_on_first_node(const placement::Placement& placement) {
  const auto have = placement.ranks_on(0);
  const int64_t stride = 1000 * int64_t(have.size());
  std::vector<Access> accesses(size_t(placement.ranks()), Access{View{}, 0, 0});
  for (size_t i = 0; i < have.size(); ++i)
    accesses[size_t(have[i])] =
        Access{View{int64_t(i) * 1000, Pattern::block(1000), stride}, 0, 1000 * 1000};
  return accesses;
}

TEST(DomainsByBytes, ANodeWithEverythingHandlesWhatTheLinkCosts) {
  for (const auto& placement : {placement::block(4, 4), placement::round_robin(4, 4)}) {
    const auto accesses = all_on_first_node(placement);
    const double all = 4e6;
    const auto crosses = [&](double link, double file, bool balanced = false) {
      TwoPhaseOptions options;
      options.costs = {.link = link, .file = file, .from = "in accesses before"};
      options.balanced = balanced;
      return double(crossing(placement, plan_of(placement, accesses, options), accesses));
    };
    // A quarter over its share would save less than a tenth.
    EXPECT_EQ(double(crossing(placement, plan_of(placement, accesses, {}), accesses)), all * 3 / 4);
    EXPECT_EQ(crosses(80, 0.3), 0);
    EXPECT_NEAR(crosses(1, 1), all / 2, all / 50);
    EXPECT_EQ(crosses(80, 0.3, true), all * 3 / 4);
    EXPECT_EQ(crosses(0.1, 1), all * 3 / 4);
  }
}

TEST(DomainsByBytes, SaysWhoSaidWhatBytesCost) {
  const auto placement = placement::block(4, 4);
  const auto accesses = all_on_first_node(placement);
  machine::Machine machine;
  for (const auto& [name, value] :
       {std::pair{"in_gbs", 0.0125}, {"out_gbs", 0.0125}, {"client_gbs", 2.0}})
    ASSERT_TRUE(machine::set_field(machine, name, value));
  TwoPhaseOptions options;
  options.machine = &machine;
  const TwoPhasePlan plan = plan_of(placement, accesses, options);
  EXPECT_EQ(crossing(placement, plan, accesses), 0);
  EXPECT_EQ(plan.busiest_link, 0);
  EXPECT_EQ(plan.busiest_aggregator, 4'000'000);
  EXPECT_THAT(plan.why, testing::Contains(HasSubstr(
                            "a node may handle 4 times its share, as a byte takes 80 ns on a link "
                            "and 0.5 at an aggregator's file by the machine's profile")));
  options.costs = {.link = 0.1, .file = 1, .from = "in accesses before"};
  EXPECT_GT(crossing(placement, plan_of(placement, accesses, options), accesses), 2'000'000);
}

TEST(DomainsByBytes, InterleavedRegionsKeepEvenDomains) {
  std::vector<Access> accesses;
  for (int r = 0; r < 16; ++r)
    accesses.emplace_back(View{r * 4000, Pattern::block(3744), 16 * 4000}, 0, 3744 * 200);
  const auto placement = placement::block(4, 4);
  const TwoPhasePlan plan = plan_of(placement, accesses, {});
  EXPECT_THAT(plan.why, testing::Contains(HasSubstr("in even domains")));
}

/// An array of `edge` cubed cells on a grid of z x y x x ranks.
std::vector<Access> blocks_of(int64_t edge, int64_t cell, int z, int y, int x) {
  std::vector<Access> accesses;
  for (int i = 0; i < z; ++i)
    for (int j = 0; j < y; ++j)
      for (int k = 0; k < x; ++k) {
        const auto row = Pattern::block(edge / x * cell);
        const auto plane = Pattern::loop(row, edge / y, edge * cell);
        const auto block = Pattern::loop(plane, edge / z, edge * edge * cell);
        const int64_t begin =
            ((i * (edge / z) * edge + j * (edge / y)) * edge + k * (edge / x)) * cell;
        accesses.emplace_back(View{begin, block, block->end()}, 0, block->size());
      }
  return accesses;
}

TEST(DomainsByBytes, HalfPlanesOfABlockDistributedArrayAreSeen) {
  // Dealt round robin the ranks of a node are a column of blocks, and half of each half plane is
  // its node's.
  const auto accesses = blocks_of(128, 40, 4, 2, 2);
  const auto placement = placement::round_robin(4, 4);
  const TwoPhasePlan plan = plan_of(placement, accesses, {});
  const int64_t total = 128 * 128 * 128 * 40;
  EXPECT_EQ(crossing(placement, plan, accesses), total / 2);
  EXPECT_EQ(plan.min_internode_bytes, total / 2);
  TwoPhaseOptions even;
  even.keep_local = false;
  EXPECT_GT(crossing(placement, plan_of(placement, accesses, even), accesses), total * 70 / 100);
}

TEST(DomainsByBytes, HalfPlanesOfOneNodeEachCrossNoNetwork) {
  const auto accesses = blocks_of(192, 8, 4, 2, 2);
  const auto placement = placement::block(8, 2);
  const TwoPhasePlan plan = plan_of(placement, accesses, {});
  EXPECT_EQ(crossing(placement, plan, accesses), 0);
  EXPECT_EQ(plan.min_internode_bytes, 0);
}

TEST(DomainsByBytes, WhereNothingCrossesNoNodeHasAStream) {
  const auto accesses = blocks_of(128, 40, 4, 2, 2);
  TwoPhaseOptions options;
  options.buffer = 256 << 10;
  EXPECT_EQ(plan_of(placement::block(4, 4), accesses, options).stream_part, 0);
  EXPECT_GT(plan_of(placement::round_robin(4, 4), accesses, options).stream_part, 0);
}

TEST(DomainsByBytes, NodesThatHaveAsMuchOfAPartShareTheWorkEvenly) {
  // Each row of the array is on four of the eight nodes, in equal parts.
  const auto accesses = blocks_of(128, 40, 2, 2, 4);
  const auto placement = placement::round_robin(8, 2);
  const TwoPhasePlan plan = plan_of(placement, accesses, {});
  const int64_t total = 128 * 128 * 128 * 40;
  EXPECT_EQ(crossing(placement, plan, accesses), total * 3 / 4);
  std::vector<int64_t> handled(8);
  for (int a = 0; a < 8; ++a)
    for (int64_t c = 0; c < plan.domains.cycles(); ++c)
      handled[size_t(a)] += plan.domains.window(a, c).size();
  for (const int64_t bytes : handled) EXPECT_NEAR(double(bytes), total / 8.0, total / 8.0 / 32);
}

}  // namespace
}  // namespace haichi::mpiio
