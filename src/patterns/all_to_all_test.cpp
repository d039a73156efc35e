// Paper 000, Fig. 8: the time of each rank in an all-to-all of 64 nodes x 12 ranks, 1 KB messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "patterns/pattern.h"
#include "sim/simulator.h"
#include "sim/summary.h"

namespace haichi::patterns {
namespace {

using machine::Machine;
using placement::Placement;
using plan::IssueOrder;
using sim::Options;
using sim::Outcome;
using sim::rank_seconds;
using sim::summarize;
using sim::Summary;

constexpr IssueOrder kShifted[] = {IssueOrder::pairwise, IssueOrder::nd_shift,
                                   IssueOrder::nd_rank_shift};
constexpr int kNodes = 64, kPerNode = 12;

struct AllToAllCase {
  IssueOrder order = IssueOrder::rank;
  int64_t bytes = 1024;
  int window = 0;
};

Outcome run(const Placement& placement, const AllToAllCase& of, const Options& options = {},
            const Machine& machine = {}) {
  const auto job =
      all_to_all({placement, machine, {.order = of.order, .bytes = of.bytes, .window = of.window}});
  std::vector<plan::Schedule*> schedules;
  for (const auto& each : job->schedules) schedules.push_back(each.get());
  auto outcome = sim::simulate(placement, machine, schedules, options);
  EXPECT_TRUE(outcome) << outcome.error().text;
  return outcome ? *std::move(outcome) : Outcome{};
}

double mean(const std::vector<double>& times, size_t begin, size_t end) {
  return std::accumulate(times.begin() + int64_t(begin), times.begin() + int64_t(end), 0.0) /
         double(end - begin);
}

TEST(Figure8, InRankOrderLateRanksSuffer) {
  const Placement placement = placement::block(kNodes, kPerNode);
  const Outcome ranked = run(placement, {IssueOrder::rank});
  EXPECT_EQ(ranked.messages, 768 * 767);
  const Summary rank = summarize(ranked);
  const Summary shifted = summarize(run(placement, {IssueOrder::nd_rank_shift}));
  EXPECT_GT(rank.mean / shifted.mean, 1.25);
  EXPECT_LT(rank.mean / shifted.mean, 1.5);
  EXPECT_GT(rank.worst / shifted.worst, 1.8);
  EXPECT_LT(rank.worst / shifted.worst, 2.0);
  // From each eighth of the ranks to the next it takes longer.
  const std::vector<double> times = rank_seconds(ranked);
  for (size_t eighth = 1; eighth < 8; ++eighth)
    EXPECT_GT(mean(times, eighth * 96, eighth * 96 + 96),
              mean(times, eighth * 96 - 96, eighth * 96));
  EXPECT_GT(rank.worst_rank, 700);
}

TEST(Figure8, ShiftedOrdersAreFlatUnderBothPlacements) {
  double least = 1e9, most = 0;
  for (const Placement& placement :
       {placement::block(kNodes, kPerNode), placement::round_robin(kNodes, kPerNode)})
    for (const IssueOrder order : kShifted) {
      const Summary summary = summarize(run(placement, {order}));
      least = std::min(least, summary.best);
      most = std::max(most, summary.worst);
    }
  EXPECT_LT(most / least, 1.02);
  // All ports are busy all the time: 12 x 756 messages to other nodes at 3.4 GB/s.
  const double wire = 12.0 * 756 * 1024 / 3.4e9;
  EXPECT_GT(least, wire);
  EXPECT_LT(most, wire * 1.05);
}

TEST(Figure8, RoundRobinIsMilder) {
  const Summary rank = summarize(run(placement::round_robin(kNodes, kPerNode), {IssueOrder::rank}));
  const Summary shifted =
      summarize(run(placement::round_robin(kNodes, kPerNode), {IssueOrder::nd_rank_shift}));
  EXPECT_LT(rank.mean / shifted.mean, 1.05);
  EXPECT_GT(rank.worst / shifted.worst, 1.03);
  EXPECT_LT(rank.worst / shifted.worst, 1.2);
}

TEST(Figure8, HoldsForRanksThatStartApartAndAreDisturbed) {
  const Placement placement = placement::block(kNodes, kPerNode);
  const Options options{.seed = 5, .skew_ns = 20000, .noise = 0.2};
  const Summary rank = summarize(run(placement, {IssueOrder::rank}, options));
  const Summary shifted = summarize(run(placement, {IssueOrder::nd_rank_shift}, options));
  EXPECT_GT(rank.mean / shifted.mean, 1.25);
  EXPECT_GT(rank.worst / shifted.worst, 1.8);
}

// Where sends wait for their receivers, a window makes the crowd at one node everybody's loss.
TEST(AllToAll, ASmallWindowMakesRankOrderWorse) {
  const Placement placement = placement::block(16, 6);
  const auto ratio = [&](int window) {
    return summarize(run(placement, {IssueOrder::rank, 16384, window})).mean /
           summarize(run(placement, {IssueOrder::nd_rank_shift, 16384, window})).mean;
  };
  EXPECT_GT(ratio(1), 2.5);
  EXPECT_GT(ratio(1), 1.5 * ratio(0));
}

TEST(AllToAll, OneRankThatMustAnswerForItsNodeLosesToAllOfThem) {
  // With a processor that is slower than the port, nd_shift's twelve messages to one rank at a time
  // cost more than nd_rank_shift's one to each.
  Machine slow;
  slow.match_ns = 3000;
  const Placement placement = placement::block(kNodes, kPerNode);
  const Summary ranks = summarize(run(placement, {IssueOrder::nd_rank_shift}, {}, slow));
  const Summary nodes = summarize(run(placement, {IssueOrder::nd_shift}, {}, slow));
  EXPECT_LT(ranks.mean, nodes.mean);
}

// Full buffers round a ring of a torus would wait for each other for ever, had links no lanes.
TEST(AllToAll, FiniteBuffersOfATorusNeverLockUp) {
  Machine machine;
  machine.buffer_bytes = 1024;
  const Placement placement = placement::block(40, 1);
  for (const char* network : {"torus:8x5", "torus:40", "mesh:8x5", "fattree:8:4", "crossbar",
                              "dragonfly:2:4:2:5:adaptive", "dragonfly+:2:4:2:2:adaptive"}) {
    machine.network = network;
    for (const IssueOrder order : {IssueOrder::rank, IssueOrder::nd_rank_shift})
      for (const int64_t bytes : {100, 1024, 40000}) {
        const Outcome outcome = run(placement, {order, bytes}, {}, machine);
        EXPECT_EQ(outcome.messages, 40 * 39) << network << ' ' << bytes;
      }
  }
}

// All nodes of a group send to the next one, to which they have one link.
TEST(AllToAll, ADragonflyThatAdaptsGoesRoundACrowd) {
  const Placement placement = placement::block(72, 1);
  Machine machine;
  const auto worst = [&](const char* network) {
    machine.network = network;
    const auto job = shift({placement, machine, {.bytes = 1 << 20, .distance = 8}});
    std::vector<plan::Schedule*> schedules;
    for (const auto& each : job->schedules) schedules.push_back(each.get());
    return summarize(*sim::simulate(placement, machine, schedules)).worst;
  };
  EXPECT_GT(worst("dragonfly:2:4:2"), 1.5 * worst("dragonfly:2:4:2:adaptive"));
}

// Messages of different sizes between the same ranks, on ways that change: each is received by the
// receive that it was sent for, or the run would fail.
TEST(AllToAll, OnWaysThatChangeNoMessageOvertakesAnother) {
  const Placement placement = placement::block(18, 1);
  Machine machine;
  machine.network = "dragonfly:1:2:4:adaptive";
  machine.eager_bytes = 8000;
  for (const char* algorithm : {"bruck(2)", "node_aware(1)", "ring_light_barrier"})
    for (const double buffer : {0.0, 5000.0}) {
      machine.buffer_bytes = buffer;
      const auto job = all_to_all({placement, machine, {.bytes = 3000, .algorithm = algorithm}});
      ASSERT_TRUE(job);
      std::vector<plan::Schedule*> schedules;
      for (const auto& each : job->schedules) schedules.push_back(each.get());
      const auto outcome = sim::simulate(placement, machine, schedules, {.noise = 0.2});
      EXPECT_TRUE(outcome) << algorithm << ' ' << outcome.error().text;
    }
}

// Rank order sends all nodes to one, and full buffers before its port keep others waiting.
TEST(Figure8, FiniteBuffersMakeRankOrderWorseAndLeaveTheShiftedOrders) {
  Machine machine;
  machine.buffer_bytes = 64 << 10;
  const Placement placement = placement::block(16, kPerNode);
  const double shifted = summarize(run(placement, {IssueOrder::nd_rank_shift}, {}, machine)).mean;
  const double rank = summarize(run(placement, {IssueOrder::rank}, {}, machine)).mean;
  EXPECT_GT(rank, 2 * shifted);
  EXPECT_GT(rank, 1.5 * summarize(run(placement, {IssueOrder::rank})).mean);
  EXPECT_NEAR(shifted / summarize(run(placement, {IssueOrder::nd_rank_shift})).mean, 1, 0.01);
  // Under RR too there is something to gain then, as the paper has it.
  const Placement dealt = placement::round_robin(16, kPerNode);
  machine.buffer_bytes = 16 << 10;
  EXPECT_GT(summarize(run(dealt, {IssueOrder::rank}, {}, machine)).mean, 1.1 * shifted);
}

// Paper 004, Figs. 2 to 4: where messages are small, Simple Spread is slower than Bruck.
TEST(Paper004, AQueueThatIsSearchedMakesSimpleSpreadSlow) {
  Machine machine;
  machine.network = "mesh:4x3x4";
  const Placement placement = placement::block(48, 1);
  const double free = summarize(run(placement, {IssueOrder::rank, 8}, {}, machine)).mean;
  machine.search_ns = 30;
  const double searched = summarize(run(placement, {IssueOrder::rank, 8}, {}, machine)).mean;
  EXPECT_GT(searched, 1.25 * free);
}

TEST(AllToAll, TheSameSeedIsTheSameRun) {
  const Placement placement = placement::round_robin(5, 3);
  const AllToAllCase of{IssueOrder::nd_shift, 20000, 2};
  const Options options{.seed = 1, .skew_ns = 5000, .noise = 0.5};
  Options other = options;
  other.seed = 2;
  const Outcome first = run(placement, of, options), again = run(placement, of, options);
  EXPECT_EQ(first.finish, again.finish);
  EXPECT_EQ(first.start, again.start);
  EXPECT_NE(first.finish, run(placement, of, other).finish);
  EXPECT_NE(first.finish, run(placement, of).finish);
}

TEST(AllToAll, UnequalNodesAndEveryNetwork) {
  const Placement placement(std::vector<int>{0, 0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5});
  for (const char* network :
       {"crossbar", "fattree:2:2", "torus:3x2", "mesh:2x3", "torus:6", "fattree:2:1:adaptive",
        "dragonfly:1:2:1:adaptive", "dragonfly+:1:1:2:3:adaptive"})
    for (const int64_t bytes : {0, 1, 5000, 70000})
      for (const int window : {0, 1, 3}) {
        Machine machine;
        machine.network = network;
        for (const IssueOrder order : {IssueOrder::rank, IssueOrder::pairwise, IssueOrder::nd_shift,
                                       IssueOrder::nd_rank_shift})
          EXPECT_EQ(run(placement, {order, bytes, window}, {}, machine).messages,
                    bytes > 0 ? 132 : 0);
      }
}

// What haichi promises of 4096 ranks is memory that grows with the messages under way and a time
// that grows with their number; bench/kernels/simulate_all_to_all.cpp times it.
TEST(AllToAll, EventsGrowWithTheMessagesAlone) {
  const auto events_per_message = [](int nodes, int per_node) {
    const Outcome outcome = run(placement::block(nodes, per_node), {IssueOrder::rank});
    return double(outcome.events) / double(outcome.messages);
  };
  EXPECT_LE(events_per_message(8, 4), 3.2);
  EXPECT_LE(events_per_message(32, 8), 3.2);
}

}  // namespace
}  // namespace haichi::patterns
