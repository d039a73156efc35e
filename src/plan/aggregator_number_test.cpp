#include "plan/aggregator_number.h"

#include <gtest/gtest.h>

#include "plan/aggregators.h"
#include "support/random_placement.h"

namespace haichi::plan {
namespace {

using machine::Machine;
using placement::Placement;

using Numbers = std::vector<std::pair<std::string_view, double>>;

Machine told(const Numbers& numbers) {
  Machine machine;
  for (const auto& [name, value] : numbers)
    EXPECT_TRUE(machine::set_field(machine, name, value)) << name;
  return machine;
}

/// Ports of 2 GB/s for messages and files each; 16 servers of 1 GB/s that need no time for a
/// request; one process moves 0.5 GB/s.
Machine slow_process(const Numbers& other = {}) {
  Numbers all = {{"in_gbs", 2},     {"out_gbs", 2},    {"storage_gbs", 2}, {"servers", 16},
                 {"server_gbs", 1}, {"request_us", 0}, {"latency_ns", 0},  {"client_gbs", 0.5}};
  all.insert(all.end(), other.begin(), other.end());
  return told(all);
}

constexpr FileShape kPlain{.window = 1 << 20};

int total(const Machine& machine, const Placement& placement, const FileShape& file = kPlain) {
  const auto number = number_by_rates(machine, placement, file);
  return number ? number->total : -1;
}

TEST(NumberByRates, ManySlowProcessesFillTheNodesPort) {
  // Four times 0.5 GB/s are the port's 2; eight nodes of four are the servers' 16.
  EXPECT_EQ(total(slow_process(), placement::block(4, 8)), 16);
  EXPECT_EQ(total(slow_process(), placement::block(8, 8)), 32);
  // The servers are used up by 32.
  EXPECT_EQ(total(slow_process(), placement::block(16, 8)), 32);
  // One a node is the least.
  EXPECT_EQ(total(slow_process(), placement::block(64, 8)), 64);
  // A process that fills the port, from several servers at once, needs no other.
  const FileShape wide{.window = 4 << 20};
  EXPECT_EQ(total(slow_process({{"client_gbs", 2}}), placement::block(4, 8), wide), 4);
  EXPECT_EQ(total(slow_process({{"client_gbs", 0}}), placement::block(4, 8), wide), 4);
}

TEST(NumberByRates, ThereAreNoMoreThanRanks) {
  EXPECT_EQ(total(slow_process(), placement::block(4, 3)), 12);
  EXPECT_EQ(total(slow_process(), Placement(std::vector<int>{0, 0, 0, 0, 0, 0, 1, 2, 2})), 7);
}

TEST(NumberByRates, TheNetworkFeedsTheNodes) {
  // Three quarters of what goes through a node come from others: 0.75 GB/s in for 1 to the servers.
  EXPECT_EQ(total(slow_process({{"in_gbs", 0.75}}), placement::block(4, 8)), 8);
  // Where messages and files have one port, 1.75 bytes go out for each: 8/7 GB/s.
  EXPECT_EQ(total(slow_process({{"storage_gbs", 0}}), placement::block(4, 8)), 12);
}

TEST(NumberByRates, RequestsHoldOneAggregatorBack) {
  // 1 MiB takes 3 ms to ask for and 1 to move: one aggregator keeps one server busy, of 16.
  const Machine asks = slow_process({{"client_gbs", 0}, {"request_us", 3146}});
  EXPECT_EQ(total(asks, placement::block(4, 8)), 16);
  // Larger accesses go to several servers at once.
  EXPECT_EQ(total(asks, placement::block(4, 8), {.window = 4 << 20}), 4);
  EXPECT_EQ(total(asks, placement::block(2, 8), {.window = 4 << 20}), 4);
  // A server that turns to another node loses as much.
  EXPECT_EQ(total(slow_process({{"client_gbs", 0}, {"handover_us", 3146}}), placement::block(4, 8)),
            16);
}

TEST(NumberByRates, StripesAreSharedEvenly) {
  const auto striped = [](int stripes, int nodes, const Numbers& other = {}) {
    return total(slow_process(other), placement::block(nodes, 8),
                 {.window = 1 << 20, .stripe_unit = 1 << 20, .stripes = stripes});
  };
  EXPECT_EQ(striped(16, 4), 16);
  EXPECT_EQ(striped(12, 4), 24);  // the 12 GB/s of the servers would take 16 on 4 nodes' ports
  EXPECT_EQ(striped(2, 4), 4);    // two servers take no more
  EXPECT_EQ(striped(7, 4, {{"client_gbs", 4}}), 7);
  EXPECT_EQ(striped(1, 4, {{"client_gbs", 4}}), 1);  // one per stripe, as without a profile
}

TEST(NumberByRates, IsNeverBelowTheDefault) {
  test::Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Placement placement = test::random_placement(random, 100);
    FileShape file{.window = 1 + random.mostly_small(1 << 24)};
    if (trial % 2) file.stripes = int(1 + random.mostly_small(200));
    const Machine machine = slow_process({{"client_gbs", double(random.between(0, 4)) / 2},
                                          {"server_gbs", double(random.between(1, 100)) / 10},
                                          {"servers", double(random.between(1, 100))},
                                          {"request_us", double(random.between(0, 10'000))}});
    const auto number = number_by_rates(machine, placement, file);
    ASSERT_TRUE(number);
    const int usual =
        int(choose_aggregators(placement, Layout::roundrobin, 0, file.stripes).ranks.size());
    ASSERT_GE(number->total, usual) << test::describe(placement);
    const auto chosen =
        choose_aggregators(placement, Layout::packed, number->total, 0, number->per_node).ranks;
    ASSERT_EQ(int(chosen.size()), number->total) << test::describe(placement);
    if (file.stripes > 0) {
      ASSERT_TRUE(number->total % file.stripes == 0 || file.stripes % number->total == 0)
          << number->total << " for " << file.stripes;
    }
  }
}

TEST(NumberByRates, SaysWhatDecides) {
  const auto number = number_by_rates(slow_process(), placement::block(4, 8), kPlain);
  ASSERT_TRUE(number);
  EXPECT_EQ(number->per_node, 4);
  EXPECT_EQ(number->why,
            "16 aggregators: one can access 0.5 GB/s, what passes through a node is 2, the servers "
            "take 16 in all, by the machine's profile; cb_nodes not given");
}

TEST(NumberByRates, AMachineThatTellsNothingOfStorageDecidesNothing) {
  const Placement four = placement::block(4, 8);
  EXPECT_EQ(total({}, four), -1);
  for (const std::string_view name :
       {"in_gbs", "out_gbs", "storage_gbs", "servers", "server_gbs"}) {
    Machine machine = slow_process();
    std::erase(machine.told, name);
    EXPECT_EQ(total(machine, four), -1) << name;
  }
  EXPECT_EQ(total(slow_process({{"servers", 0}}), four), -1);
}

}  // namespace
}  // namespace haichi::plan
