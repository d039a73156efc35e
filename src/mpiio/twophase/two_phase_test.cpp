// Two-phase I/O of all ranks in one process: real bytes, a file in memory, no MPI.
#include "mpiio/twophase/two_phase.h"

#include <errno.h>
#include <gtest/gtest.h>

#include "support/two_phase_job.h"

namespace haichi::mpiio {
namespace {

TEST(TwoPhase, WritesEveryByteOnceAndNothingElse) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = random_job(random, owner);
    job.file.bytes.assign(size_t(random.between(0, int64_t(owner.size()))), std::byte{0xEE});
    if (random.below(2)) job.file.most_per_call = size_t(random.between(1, 17));
    job.file.interruptions = int(random.below(3));
    ASSERT_NO_FATAL_FAILURE(write_all_right(job, owner, seed));
  }
}

TEST(TwoPhase, ReadsEveryByte) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = random_job(random, owner);
    for (size_t at = 0; at < owner.size(); ++at) job.file.bytes.push_back(value_at(at));
    if (random.below(2)) job.file.most_per_call = size_t(random.between(1, 17));
    auto wanted = job.memory;
    const auto untouched = job.memory;
    fill_memory(job, owner);
    wanted.swap(job.memory);
    job.memory = untouched;
    ASSERT_NO_FATAL_FAILURE(read_all_right(job, wanted, seed));
  }
}

/// `ranks` ranks that interleave pieces of `size` bytes at distances of `stride`.
Job interleaved(int ranks, int64_t pieces, int64_t size, int64_t stride) {
  Job job;
  job.placement = placement::block(1, ranks);
  job.options.buffer = 1 << 20;
  for (int r = 0; r < ranks; ++r) {
    const View view{r * stride, Pattern::block(size), ranks * stride};
    job.accesses.emplace_back(view, 0, pieces * size);
    job.memory_patterns.push_back(Pattern::block(pieces * size));
    job.memory.emplace_back(size_t(pieces * size), std::byte(r + 1));
  }
  return job;
}

// So a rank that waits for the file's lock keeps no other from copying.
TEST(TwoPhase, RanksOfANodeCopyTheNextCycleBeforeTheyAccessTheFile) {
  using Kind = plan::Step::Kind;
  const Job job = interleaved(2, 100, 64, 64);
  TwoPhaseOptions options = job.options;
  options.may_go_direct = false;
  options.buffer = 3 * 1024;
  std::vector<RankDemand> demands;
  for (const Access& a : job.accesses) demands.push_back(demand_of(a));
  for (const Direction direction : {Direction::write, Direction::read}) {
    const TwoPhasePlan plan = plan_two_phase(job.placement, options, direction, demands);
    ASSERT_EQ(plan.cb_slots, 3);
    ASSERT_EQ(plan.cb_slot_bytes, 1024);
    const AccessList others(job.accesses);
    TwoPhaseSchedule schedule(job.placement, plan, 0, job.accesses[0], others, true);
    std::vector<Kind> kinds;
    for (plan::Step step; schedule.next(step) && kinds.size() < 40;)
      if (step.kind != Kind::wait && step.kind != Kind::file_wait && step.kind != Kind::round)
        if (kinds.empty() || step.kind != Kind::copy || kinds.back() != step.kind)
          kinds.push_back(step.kind);
    const std::vector<Kind> cycle =
        direction == Direction::write
            ? std::vector{Kind::node_meet, Kind::copy, Kind::node_arrive, Kind::file_write}
            : std::vector{Kind::node_meet, Kind::file_read, Kind::node_arrive, Kind::copy};
    for (size_t i = 0; i < 16; ++i) EXPECT_EQ(kinds[2 + i], cycle[i % 4]) << i;
  }
}

/// Ranks of several nodes, some with company, that have streams in a run of many cycles.
Job streaming_job(test::Random& random, std::vector<int>& owner) {
  for (;;) {
    Job job = random_job(random, owner);
    const placement::Placement& all = job.placement;
    if (all.nodes() < 2 || all.ranks() == all.nodes() || owner.size() < 100) continue;
    job.sharing_nodes = UINT32_MAX;
    job.options.node_streams = Choice::on;
    job.options.aggregators = int(random.between(2, all.ranks()));
    job.options.layout = plan::Layout::roundrobin;
    job.options.buffer = random.between(8, 60);
    job.has_workers = false;
    return job;
  }
}

TEST(NodeStreams, CarryTheSameBytesInFewerMessages) {
  int64_t fewer = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = streaming_job(random, owner);
    const auto untouched = job.memory;
    fill_memory(job, owner);
    const auto filled = job.memory;
    std::vector<std::byte> files[2];
    int64_t messages[2][2];  // by direction, then with streams or without
    for (const bool on : {false, true}) {
      job.options.node_streams = on ? Choice::on : Choice::off;
      job.direction = Direction::write;
      job.memory = filled;
      job.file.bytes.clear();
      const Status done = job.run(seed);
      ASSERT_TRUE(done) << seed << ": " << done.error().text;
      ASSERT_TRUE(on || !job.streamed);
      files[on] = job.file.bytes;
      messages[0][on] = job.tally.messages;
      job.memory = untouched;
      ASSERT_NO_FATAL_FAILURE(read_all_right(job, filled, seed + 1));
      messages[1][on] = job.tally.messages;
    }
    ASSERT_EQ(files[0], files[1]) << seed << ": " << test::describe(job.placement);
    for (const auto& m : messages) {
      ASSERT_LE(m[1], m[0]) << seed;
      fewer += m[0] - m[1];
    }
  }
  EXPECT_GT(fewer, 1000);
}

TEST(NodeStreams, AreOneMessagePerNodeAggregatorAndCycle) {
  for (const Direction direction : {Direction::write, Direction::read}) {
    for (const int64_t memory : {1000, 20}) {
      Job job = interleaved(12, 120, 8, 8);
      job.placement = placement::round_robin(3, 4);
      job.direction = direction;
      job.options.buffer = 2 * 192;  // two pieces of each rank in a window
      job.options.keep_local = false;
      job.options.node_streams = Choice::on;
      job.options.stream_memory = memory;
      job.sharing_nodes = UINT32_MAX;
      ASSERT_TRUE(job.run(1));
      EXPECT_TRUE(job.streamed);
      // 3 aggregators with 20 cycles; 2 other nodes of 4 ranks. A stream has 64 bytes, of which 20
      // bytes of memory a rank are too little.
      EXPECT_EQ(job.tally.messages, memory == 1000 ? 3 * 20 * 2 : 3 * 20 * 2 * 4);
    }
  }
}

TEST(NodeStreams, ReadersOfTheSameBytesAllGetThem) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = streaming_job(random, owner);
    for (int64_t at = 0; at < 300; ++at) job.file.bytes.push_back(value_at(size_t(at)));
    std::vector<std::vector<std::byte>> wanted;
    for (int r = 0; r < job.placement.ranks(); ++r) {
      const int64_t begin = random.below(200), size = random.below(4) ? random.below(200) : 0;
      const int64_t end = std::max(begin, std::min<int64_t>(begin + size, 300));
      job.accesses[size_t(r)] = Access(View{}, begin, end - begin);
      job.memory_patterns[size_t(r)] = Pattern::block(end - begin);
      job.memory[size_t(r)].assign(size_t(end - begin), std::byte{0});
      wanted.emplace_back(job.file.bytes.begin() + begin, job.file.bytes.begin() + end);
    }
    ASSERT_NO_FATAL_FAILURE(read_all_right(job, wanted, seed));
  }
}

/// What the plan says of pieces of that size on a placement.
int64_t stream_part(const placement::Placement& placement, int64_t piece, Choice choice,
                    int64_t count = 4096) {
  TwoPhaseOptions options;
  options.may_go_direct = false;
  options.may_shrink = false;
  options.buffer = 512 << 10;
  options.node_streams = choice;
  const int64_t ranks = placement.ranks();
  std::vector<RankDemand> demands;
  for (int64_t r = 0; r < ranks; ++r) {
    const plan::Extent hull{r * piece, ((count - 1) * ranks + r + 1) * piece};
    demands.push_back({hull, count * piece, count});
  }
  return plan_two_phase(placement, options, Direction::write, demands).stream_part;
}

TEST(NodeStreams, AreChosenForSmallMessagesOfRanksInCompany) {
  const auto many = placement::block(8, 32), few = placement::block(4, 2);
  EXPECT_GT(stream_part(many, 64, Choice::automatic), 0);  // 1 KiB of each rank in a window
  EXPECT_GT(stream_part(placement::block(4, 8), 8192, Choice::automatic), 0);  // 8 KiB, a piece
  const auto three = placement::block(2, 3);                                   // 43 KiB
  EXPECT_GT(stream_part(three, 4096, Choice::automatic, 1 << 16), 0);
  EXPECT_EQ(stream_part(three, 4097, Choice::automatic, 1 << 16), 0);
  EXPECT_EQ(stream_part(placement::block(16, 2), 64, Choice::automatic), 0);  // 8 KiB
  EXPECT_EQ(stream_part(many, 1 << 20, Choice::automatic), 0);  // each piece fills windows
  EXPECT_EQ(stream_part(few, 64, Choice::automatic), 0);        // 32 KiB of two ranks a node
  EXPECT_EQ(stream_part(few, 64, Choice::on), 256 << 10);
  // One cycle of 2 x 7 messages fewer does not pay the meetings, 31 x 7 do.
  EXPECT_EQ(stream_part(placement::block(8, 3), 64, Choice::automatic, 16), 0);
  EXPECT_GT(stream_part(many, 64, Choice::automatic, 16), 0);
  EXPECT_EQ(stream_part(many, 64, Choice::off), 0);
  EXPECT_EQ(stream_part(placement::block(64, 1), 64, Choice::on), 0);
  EXPECT_EQ(stream_part(placement::block(1, 64), 64, Choice::on), 0);
}

TEST(TwoPhase, HolesOfDensePiecesAreReadAndOfWidePiecesAreNot) {
  Job dense = interleaved(2, 100, 64, 128);
  ASSERT_TRUE(dense.run(1));
  EXPECT_EQ(dense.totals.rmw, 1);
  Job few_holes = interleaved(2, 15, 3744, 4000);
  ASSERT_TRUE(few_holes.run(1));
  EXPECT_EQ(few_holes.totals.rmw, 1);
  for (const auto& [size, distance] : {std::pair{3744, 9000}, std::pair{3744, 6000}}) {
    Job wide = interleaved(2, 5, size, distance);
    ASSERT_TRUE(wide.run(1));
    EXPECT_EQ(wide.totals.separate, 1) << distance;
    EXPECT_EQ(wide.file.writes.size(), 10u) << distance;
  }
  Job full = interleaved(2, 100, 64, 64);
  ASSERT_TRUE(full.run(1));
  EXPECT_EQ(full.totals.whole, 1);
  EXPECT_EQ(full.file.writes.size(), 1u);
}

TEST(TwoPhase, WithoutALockNothingIsReadModifiedAndWritten) {
  Job job = interleaved(2, 100, 64, 128);
  job.file.lock_result = -ENOLCK;
  ASSERT_TRUE(job.run(1));
  EXPECT_EQ(job.totals.rmw, 0);
  EXPECT_EQ(job.file.writes.size(), 200u);
}

TEST(TwoPhase, BesideAnotherWriterHolesAreLeftAlone) {
  for (const bool known : {true, false}) {
    Job job = interleaved(2, 100, 64, 128);
    job.file.others_present = known;
    job.slot = known ? 7 : -1;  // or nobody could be told of this one
    ASSERT_TRUE(job.run(1));
    EXPECT_EQ(job.totals.rmw, 0);
    EXPECT_EQ(job.file.writes.size(), 200u);
  }
}

TEST(TwoPhase, AFullDiskIsReportedAndWhatFitsIsKept) {
  Job job = interleaved(2, 100, 64, 64);
  job.options.buffer = 1024;
  job.file.fail_writes_from = 6000;
  ASSERT_TRUE(job.run(1));
  EXPECT_FALSE(job.statuses[0]);
  EXPECT_EQ(job.statuses[0].error().code, ENOSPC);
  EXPECT_EQ(job.file.bytes.size(), 5797u);  // seventeen whole windows, three a buffer
}

TEST(TwoPhase, AnErrorWhileReadingReachesTheStatusAndNoJunkTheProgram) {
  Job job = interleaved(2, 4, 64, 64);
  job.direction = Direction::read;
  job.file.bytes.resize(512);
  job.file.fail_reads = EIO;
  ASSERT_TRUE(job.run(1));
  EXPECT_EQ(job.statuses[0].error().code, EIO);
  for (const auto& memory : job.memory)
    for (const std::byte b : memory) EXPECT_EQ(b, std::byte{0});
}

TEST(TwoPhase, OverlappingWritersLeaveOneWritersBytesAndTheRestRight) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    test::Random random(seed);
    Job job;
    job.placement = test::random_placement(random, 6);
    job.options.buffer = random.between(8, 64);
    job.options.node_streams = Choice(random.below(3));
    job.sharing_nodes = UINT32_MAX;
    std::vector<std::set<int>> writers(200);
    for (int r = 0; r < job.placement.ranks(); ++r) {
      const int64_t begin = random.below(100), size = random.between(0, 100);
      job.accesses.emplace_back(View{}, begin, size);
      job.memory_patterns.push_back(Pattern::block(size));
      job.memory.emplace_back(size_t(size), std::byte(r + 1));
      for (int64_t i = begin; i < begin + size; ++i) writers[size_t(i)].insert(r + 1);
    }
    ASSERT_TRUE(job.run(seed));
    for (size_t at = 0; at < job.file.bytes.size(); ++at) {
      if (writers[at].empty())
        ASSERT_EQ(job.file.bytes[at], std::byte{0}) << seed << " offset " << at;
      else
        ASSERT_TRUE(writers[at].count(int(job.file.bytes[at]))) << seed << " offset " << at;
    }
  }
}

TEST(Access, EncodingAPartKeepsItsBytes) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    test::Random random(seed);
    PatternBuilder tile;
    int64_t at = 0;
    for (int i = 0; i < 2000; ++i) {
      at += random.between(0, 9);
      tile.add(at, 1);
      ++at;
    }
    const View view{random.below(50), tile.build(), at + random.below(9)};
    const int64_t begin = random.below(3000), size = random.between(1, 3000);
    const Access whole(view, begin, size);
    const int64_t from = begin + random.below(size);
    const int64_t to = random.between(from + 1, begin + size);
    const auto part = Access::decode(whole.encode(from, to));
    ASSERT_TRUE(part);
    std::vector<std::pair<int64_t, int64_t>> expected, got;
    auto split = [](auto& list) {
      return [&list](int64_t o, int64_t n) {
        for (int64_t i = 0; i < n; ++i) list.emplace_back(o + i, 1);
      };
    };
    whole.for_each_block(from, to, split(expected));
    part->for_each_block(from, to, split(got));
    ASSERT_EQ(got, expected) << seed;
    ASSERT_EQ(part->begin(), from);
    ASSERT_EQ(part->position_of(expected[expected.size() / 2].first),
              from + int64_t(expected.size() / 2));
  }
}

}  // namespace
}  // namespace haichi::mpiio
