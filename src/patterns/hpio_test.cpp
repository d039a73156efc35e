#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "patterns/pattern.h"
#include "sim/summary.h"

namespace haichi::patterns {
namespace {

using placement::Placement;
using plan::IssueOrder;
using plan::Layout;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// What ran, and how long the slowest rank took.
struct Ran {
  Job job;
  sim::Outcome outcome;
  double seconds = 0;
};

Ran run(const Placement& placement, const Parameters& parameters,
        const machine::Machine& machine = {}) {
  Ran ran;
  auto job = hpio({placement, machine, parameters});
  EXPECT_TRUE(job) << job.error().text;
  if (!job) return ran;
  ran.job = *std::move(job);
  std::vector<plan::Schedule*> schedules;
  for (const auto& each : ran.job.schedules) schedules.push_back(each.get());
  auto outcome = sim::simulate(placement, machine, schedules);
  EXPECT_TRUE(outcome) << outcome.error().text;
  if (outcome) ran.outcome = *std::move(outcome);
  if (outcome) ran.seconds = sim::summarize(ran.outcome).worst;
  return ran;
}

Parameters small() {
  Parameters p = find_pattern("hpio")->defaults;
  p.region_count = 600;
  return p;
}

TEST(Hpio, AMachineThatTellsItsStorageHasAsManyAggregatorsAsPay) {
  // One process moves a quarter of its node's port: 4 a node, within a tenth of the best of 1 to 8.
  machine::Machine machine;
  for (const auto& [name, value] : {std::pair{"in_gbs", 4.0},
                                    {"out_gbs", 4.0},
                                    {"storage_gbs", 2.0},
                                    {"servers", 64.0},
                                    {"server_gbs", 1.0},
                                    {"request_us", 0.0},
                                    {"client_gbs", 0.5}})
    ASSERT_TRUE(machine::set_field(machine, name, value)) << name;
  const Placement placement = placement::block(4, 8);
  Parameters p = small();
  p.region_space = 0;
  p.region_count = 4000;
  p.buffer = 16 << 20;
  const Ran chosen = run(placement, p, machine);
  EXPECT_EQ(chosen.job.aggregators.size(), 16u);
  double best = chosen.seconds, one = 0;
  for (p.per_node = 1; p.per_node <= 8; ++p.per_node) {
    const double seconds = run(placement, p, machine).seconds;
    best = std::min(best, seconds);
    if (p.per_node == 1) one = seconds;
  }
  EXPECT_LT(chosen.seconds, 1.1 * best);
  EXPECT_GT(one, 2 * chosen.seconds);
}

TEST(Hpio, EveryByteGoesToTheFileOnce) {
  for (const Placement& placement :
       {placement::block(4, 3), placement::round_robin(5, 2), placement::block(1, 4),
        Placement(std::vector<int>{0, 0, 0, 1, 2, 2})})
    for (const auto access : {mpiio::Direction::write, mpiio::Direction::read})
      for (const bool contiguous : {false, true})
        for (const bool share : {false, true}) {
          Parameters p = small();
          p.access = access;
          p.contiguous = contiguous;
          p.share = share;
          p.region_space = 0;
          const Ran ran = run(placement, p);
          EXPECT_EQ(ran.job.program_bytes, 3744LL * 600 * placement.ranks());
          EXPECT_EQ(ran.outcome.file_bytes, ran.job.program_bytes);
        }
}

TEST(Hpio, HolesAreReadAndWrittenOrLeftAlone) {
  const Placement placement = placement::block(4, 3);
  Parameters p = small();
  const int64_t payload = 3744LL * 600 * 12, range = 4000LL * 600 * 12 - 256;
  // Dense pieces: each window from its first byte to its last, read and written; what is saved are
  // the holes at the ends of windows.
  const Ran dense = run(placement, p);
  EXPECT_LE(dense.outcome.file_bytes, 2 * range);
  EXPECT_GT(dense.outcome.file_bytes, 2 * (range - 256 * dense.job.cycles * 4));
  p.holes = mpiio::Holes::separate;
  EXPECT_EQ(run(placement, p).outcome.file_bytes, payload);
  p.holes = mpiio::Holes::automatic;
  p.region_space = 20000;
  EXPECT_EQ(run(placement, p).outcome.file_bytes, payload);
  // A reader goes through such holes: those of a rank have the others' pieces in them.
  p.access = mpiio::Direction::read;
  EXPECT_GT(run(placement, p).outcome.file_bytes, payload);
}

TEST(Hpio, WindowsInHolesAreNotWritten) {
  Parameters p = small();
  p.region_size = 764;
  p.region_space = 6002;
  p.region_count = 79;
  p.buffer = 8 << 10;
  machine::Machine machine;
  machine.stripe_bytes = 64 << 10;
  for (const auto holes : {mpiio::Holes::automatic, mpiio::Holes::rmw}) {
    p.holes = holes;
    const Ran ran = run(placement::block(2, 4), p, machine);
    EXPECT_GE(ran.outcome.file_bytes, ran.job.program_bytes);
  }
}

TEST(Hpio, WhatStaysOnANodeIsCopiedWhereMemoryIsShared) {
  const Placement placement = placement::block(4, 3);
  Parameters p = small();
  p.per_node = 3;
  const Ran shared = run(placement, p);
  p.share = false;
  const Ran apart = run(placement, p);
  EXPECT_EQ(shared.outcome.network_bytes, apart.outcome.network_bytes);
  EXPECT_EQ(shared.outcome.bytes, shared.outcome.network_bytes);
  EXPECT_GT(apart.outcome.bytes, apart.outcome.network_bytes);
  // A rank copies what it has for itself in any case.
  EXPECT_LT(apart.outcome.bytes, apart.job.program_bytes);
}

TEST(Hpio, LargePiecesAreEachRanksOwn) {
  Parameters p = small();
  p.region_size = 4 << 20;
  p.region_count = 3;
  const Ran ran = run(placement::block(4, 3), p);
  EXPECT_EQ(ran.outcome.messages, 0);
  EXPECT_EQ(ran.outcome.file_bytes, ran.job.program_bytes);
  EXPECT_THAT(ran.job.why.at(0), HasSubstr("no exchange"));
}

TEST(Hpio, OverlappingCyclesHideTheExchange) {
  const Placement placement = placement::block(8, 4);
  machine::Machine machine;
  machine.out_gbs = machine.in_gbs = 0.25;  // as long as the file takes
  Parameters p = small();
  p.region_space = 0;
  p.region_count = 4000;
  p.buffer = 16 << 20;
  p.share = false;
  const double overlapping = run(placement, p, machine).seconds;
  for (const Cycles cycles : {Cycles::in_a_row, Cycles::in_step})
    for (const auto access : {mpiio::Direction::write, mpiio::Direction::read}) {
      p.cycles = cycles;
      p.access = access;
      const Ran ran = run(placement, p, machine);
      EXPECT_TRUE(access == mpiio::Direction::read || ran.seconds > 1.3 * overlapping);
      EXPECT_EQ(ran.outcome.file_bytes, ran.job.program_bytes);
    }
}

TEST(Hpio, ANodeSendsItsSmallPiecesTogether) {
  const Placement placement = placement::block(4, 3);
  Parameters p = small();
  p.region_size = 40;
  p.region_space = 0;
  p.region_count = 9000;
  p.buffer = 32 << 10;
  for (const auto access : {mpiio::Direction::write, mpiio::Direction::read}) {
    p.access = access;
    p.streams = mpiio::Choice::automatic;
    const Ran together = run(placement, p);
    p.streams = mpiio::Choice::off;
    const Ran apart = run(placement, p);
    EXPECT_THAT(together.job.why, Contains(HasSubstr("one message per node")));
    EXPECT_THAT(apart.job.why, Not(Contains(HasSubstr("one message per node"))));
    EXPECT_EQ(together.job.cycles, apart.job.cycles);
    EXPECT_EQ(together.outcome.messages * 3, apart.outcome.messages);
    EXPECT_EQ(together.outcome.network_bytes, apart.outcome.network_bytes);
    EXPECT_EQ(together.outcome.file_bytes, together.job.program_bytes);
  }
}

TEST(Hpio, NamesWhatIsWrong) {
  const Placement placement = placement::block(2, 2);
  Parameters p = small();
  p.region_count = INT64_MAX;
  EXPECT_EQ(hpio({placement, {}, p}).error().code, EINVAL);
  machine::Machine none;
  none.servers = 0;
  EXPECT_EQ(hpio({placement, none, small()}).error().code, EINVAL);
}

}  // namespace
}  // namespace haichi::patterns
