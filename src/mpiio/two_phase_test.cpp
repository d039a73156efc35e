// Two-phase I/O of all ranks in one process: real bytes, a file in memory, no MPI.
#include "mpiio/two_phase.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>

#include <memory>
#include <mutex>
#include <set>

#include "mpiio/collective_buffer.h"
#include "mpiio/node_streams.h"
#include "support/checking_executor.h"
#include "support/random_placement.h"

namespace haichi::mpiio {
namespace {

/// A file in memory that remembers which bytes were ever written, and fails on demand. What it is
/// told is read by several threads.
class MemoryFile : public Os {
 public:
  std::vector<std::byte> bytes;
  std::set<std::pair<int64_t, int64_t>> writes;
  int64_t fail_writes_from = INT64_MAX;  ///< offsets from here on cannot be written: ENOSPC
  int fail_reads = 0;                    ///< errno of every read, or 0
  int lock_result = 0;
  int others_present = 0;           ///< 1: another handle writes to the file
  size_t most_per_call = SIZE_MAX;  ///< short reads and writes
  int interruptions = 0;            ///< EINTR before that many calls

  int64_t pread(int, void* data, size_t size, int64_t offset) override {
    const std::lock_guard guard(*mutex_);
    if (fail_reads) return -fail_reads;
    if (interruptions > 0) return --interruptions, -EINTR;
    if (offset >= int64_t(bytes.size())) return 0;
    const size_t n = std::min({size, most_per_call, bytes.size() - size_t(offset)});
    memcpy(data, bytes.data() + offset, n);
    return int64_t(n);
  }
  int64_t pwrite(int, const void* data, size_t size, int64_t offset) override {
    const std::lock_guard guard(*mutex_);
    if (offset + int64_t(size) > fail_writes_from) return -ENOSPC;
    if (interruptions > 0) return --interruptions, -EINTR;
    const size_t n = std::min(size, most_per_call);
    if (bytes.size() < size_t(offset) + n) bytes.resize(size_t(offset) + n);
    memcpy(bytes.data() + offset, data, n);
    writes.insert({offset, offset + int64_t(n)});
    return int64_t(n);
  }
  int lock(int, short, int64_t, int64_t) override { return lock_result; }
  int locked_by_others(int, int64_t, int64_t) override { return others_present; }

 private:
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

/// One collective access of a whole job.
struct Job {
  placement::Placement placement;
  TwoPhaseOptions options;
  Direction direction = Direction::write;
  std::vector<Access> accesses;
  std::vector<PatternPtr> memory_patterns;
  std::vector<std::vector<std::byte>> memory;
  Holes holes = Holes::automatic;
  int64_t slot = 7;
  uint32_t sharing_nodes = 0;  ///< bit n: the ranks of node n share memory
  bool has_workers = false;    ///< if the plan has a use for them
  MemoryFile file;
  std::vector<Status> statuses;
  FileTotals totals;
  test::CheckTally tally;
  bool streamed = false;
  int64_t cycles = 0;

  bool shares(int node) const { return sharing_nodes >> node & 1; }
  /// As the ranks of a real job agree: all nodes that need memory in common have it.
  bool may_stream(const NodeStreams& streams) const {
    bool any = false;
    for (int n = 0; n < placement.nodes(); ++n) {
      const bool needed = streams.memory_of(n) > 0;
      if (needed && !shares(n)) return false;
      any = any || needed;
    }
    return any;
  }

  Status run(uint64_t seed) {
    std::vector<RankDemand> demands;
    for (const Access& a : accesses) demands.push_back(demand_of(a));
    options.may_go_direct = false;
    const TwoPhasePlan plan = plan_two_phase(placement, options, direction, demands);
    cycles = plan.domains.cycles();
    const AccessList others(accesses);
    std::vector<std::unique_ptr<Worker>> workers(accesses.size());
    std::vector<std::unique_ptr<TwoPhaseSchedule>> schedules;
    std::vector<std::unique_ptr<CollectiveBuffer>> buffers;
    // A node that shares memory reaches the windows of its own aggregators, any other rank only its
    // own.
    std::vector<int> nodes;
    std::vector<std::vector<std::byte>> windows(
        plan.aggregators.ranks.size(),
        std::vector<std::byte>(size_t(plan.cb_slots * plan.cb_slot_bytes)));
    const NodeStreams streams(placement, plan);
    streamed = may_stream(streams);
    std::vector<std::vector<int64_t>> node_memory;
    for (int n = 0; n < placement.nodes(); ++n)
      node_memory.emplace_back(size_t(streams.memory_of(n) + 7) / sizeof(int64_t), -1);
    std::vector<plan::Schedule*> schedule_list;
    std::vector<plan::Buffers*> buffer_list;
    for (int r = 0; r < placement.ranks(); ++r) {
      nodes.push_back(placement.node_of(r));
      std::vector<int64_t>& common = node_memory[size_t(nodes.back())];
      schedules.push_back(
          std::make_unique<TwoPhaseSchedule>(placement, plan, r, accesses[size_t(r)], others,
                                             shares(nodes.back()), streamed ? &streams : nullptr));
      std::vector<std::byte*> reached;
      for (size_t a = 0; a < windows.size(); ++a) {
        const int owner = plan.aggregators.ranks[a];
        const bool here = shares(nodes.back()) && placement.same_node(owner, r);
        reached.push_back(here || owner == r ? windows[a].data() : nullptr);
      }
      if (has_workers && plan.file_thread) workers[size_t(r)] = *Worker::make();
      buffers.push_back(std::make_unique<CollectiveBuffer>(
          CollectiveBuffer::Config{.plan = &plan,
                                   .my_aggregator = schedules.back()->my_aggregator(),
                                   .own = &accesses[size_t(r)],
                                   .others = &others,
                                   .windows = reached,
                                   .streams = streamed ? &streams : nullptr,
                                   .stream_memory = reinterpret_cast<std::byte*>(common.data()),
                                   .placement = &placement,
                                   .rank = r,
                                   .memory = memory[size_t(r)].data(),
                                   .memory_pattern = memory_patterns[size_t(r)],
                                   .file = {&file, 3, true, slot},
                                   .holes = holes,
                                   .worker = workers[size_t(r)].get()}));
      schedule_list.push_back(schedules.back().get());
      buffer_list.push_back(buffers.back().get());
    }
    const Status done = test::run_checked(
        schedule_list, buffer_list,
        {.seed = seed, .completion = test::Completion::either, .nodes = nodes}, &(tally = {}));
    statuses.clear();
    totals = {};
    for (const auto& b : buffers) {
      statuses.push_back(b->status());
      totals.whole += b->totals().whole;
      totals.separate += b->totals().separate;
      totals.rmw += b->totals().rmw;
    }
    return done;
  }
};

/// Each rank wants the bytes that it owns; in its memory they lie `gap()` bytes apart.
template <class Gap>
void add_ranks(Job& job, const std::vector<int>& owner, Gap gap) {
  std::vector<PatternBuilder> tiles(size_t(job.placement.ranks()));
  std::vector<int64_t> bytes(tiles.size());
  for (size_t at = 0; at < owner.size(); ++at) {
    if (owner[at] < 0) continue;
    tiles[size_t(owner[at])].add(int64_t(at), 1);
    ++bytes[size_t(owner[at])];
  }
  for (size_t r = 0; r < tiles.size(); ++r) {
    View view;
    if (bytes[r] > 0) view = {0, tiles[r].build(), int64_t(owner.size())};
    job.accesses.emplace_back(view, 0, bytes[r]);
    const int64_t apart = gap();
    job.memory_patterns.push_back(Pattern::loop(Pattern::block(1), bytes[r], apart));
    job.memory.emplace_back(size_t(bytes[r] * apart + 1));
  }
}

/// Ranks own disjoint random pieces of the file, through views of several shapes.
Job random_job(test::Random& random, std::vector<int>& owner) {
  Job job;
  job.placement = test::random_placement(random, int(random.between(1, 9)));
  const int ranks = job.placement.ranks();
  job.options.layout = random.below(2) ? plan::Layout::packed : plan::Layout::roundrobin;
  job.options.order = plan::IssueOrder(random.below(4));
  job.options.aggregators = int(random.between(0, ranks));
  job.options.max_outstanding = int(random.between(0, 4));
  job.options.buffer = random.between(1, 200);
  if (random.below(3) == 0) job.options.stripe_unit = random.between(1, 64);
  job.holes = Holes(random.below(3));
  job.sharing_nodes = random.below(3) ? UINT32_MAX : uint32_t(random.below(1 << 9));
  job.options.node_streams = Choice(random.below(3));
  if (random.below(2)) job.options.stream_memory = random.between(0, 200);
  job.options.keep_local = random.below(2);
  if (random.below(2))
    job.options.costs = {.link = double(random.below(9)), .file = double(random.below(9))};
  job.has_workers = random.below(4) == 0;
  owner.assign(size_t(random.between(0, 800)), -1);
  for (size_t at = 0; at < owner.size();) {
    const size_t n = std::min(owner.size() - at, size_t(random.between(1, 40)));
    const int who = int(random.between(-1, ranks - 1));
    for (size_t i = 0; i < n; ++i) owner[at++] = who;
  }
  add_ranks(job, owner, [&] { return random.between(1, 3); });
  return job;
}

std::byte value_at(size_t offset) { return std::byte((offset * 7 + offset / 251) % 255 + 1); }

void fill_memory(Job& job, const std::vector<int>& owner) {
  std::vector<int64_t> next(job.memory.size());
  for (size_t at = 0; at < owner.size(); ++at) {
    if (owner[at] < 0) continue;
    const size_t r = size_t(owner[at]);
    job.memory_patterns[r]->for_each_block(next[r], next[r] + 1, 0, [&](int64_t to, int64_t) {
      job.memory[r][size_t(to)] = value_at(at);
    });
    ++next[r];
  }
}

/// Writes, and compares every byte of the file.
void write_all_right(Job& job, const std::vector<int>& owner, uint64_t seed) {
  fill_memory(job, owner);
  const auto before = job.file.bytes;
  const Status done = job.run(seed);
  ASSERT_TRUE(done) << seed << ": " << done.error().text;
  for (const Status& s : job.statuses) ASSERT_TRUE(s) << seed << ": " << s.error().text;
  size_t last = 0;
  for (size_t at = 0; at < owner.size(); ++at)
    if (owner[at] >= 0) last = at + 1;
  ASSERT_EQ(job.file.bytes.size(), std::max(last, before.size())) << seed;
  for (size_t at = 0; at < job.file.bytes.size(); ++at) {
    std::byte expected = at < before.size() ? before[at] : std::byte{0};
    if (at < owner.size() && owner[at] >= 0) expected = value_at(at);
    ASSERT_EQ(job.file.bytes[at], expected) << "seed " << seed << " offset " << at;
  }
}

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
    job.direction = Direction::read;
    for (size_t at = 0; at < owner.size(); ++at) job.file.bytes.push_back(value_at(at));
    if (random.below(2)) job.file.most_per_call = size_t(random.between(1, 17));
    auto wanted = job.memory;
    const auto untouched = job.memory;
    fill_memory(job, owner);
    wanted.swap(job.memory);
    job.memory = untouched;
    const Status done = job.run(seed);
    ASSERT_TRUE(done) << seed << ": " << done.error().text;
    for (const Status& s : job.statuses) ASSERT_TRUE(s) << seed;
    ASSERT_EQ(job.memory, wanted) << seed;
  }
}

/// Ranks have disjoint random pieces in a few places that are far apart.
Job sparse_job(test::Random& random, std::vector<int>& owner) {
  Job job;
  job.placement = test::random_placement(random, int(random.between(2, 9)));
  job.options.aggregators = int(random.between(0, job.placement.ranks()));
  job.options.buffer = random.between(8 << 10, 128 << 10);
  job.holes = Holes(random.below(3));
  job.sharing_nodes = random.below(2) ? UINT32_MAX : 0;
  owner.assign(8 << 20, -1);
  owner.front() = 0;
  owner.back() = job.placement.ranks() - 1;
  for (int64_t place = random.between(2, 4); place > 0; --place) {
    int64_t at = random.between(0, int64_t(owner.size()) - (64 << 10));
    for (int64_t pieces = random.between(1, 30); pieces > 0; --pieces) {
      const int who = int(random.below(uint64_t(job.placement.ranks())));
      for (int64_t n = random.between(1, 900); n > 0; --n) owner[size_t(at++)] = who;
      at += random.between(0, 900);
    }
  }
  add_ranks(job, owner, [] { return 1; });
  return job;
}

TEST(TwoPhase, RangesThatAreMostlyHolesAreWrittenInFewCycles) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = sparse_job(random, owner);
    job.file.bytes.assign(owner.size(), std::byte{0xEE});
    ASSERT_NO_FATAL_FAILURE(write_all_right(job, owner, seed));
    EXPECT_LT(job.cycles, 48) << seed;
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
      Status done = job.run(seed);
      ASSERT_TRUE(done) << seed << ": " << done.error().text;
      ASSERT_TRUE(on || !job.streamed);
      files[on] = job.file.bytes;
      messages[0][on] = job.tally.messages;
      job.direction = Direction::read;
      job.memory = untouched;
      done = job.run(seed + 1);
      ASSERT_TRUE(done) << seed << ": " << done.error().text;
      ASSERT_EQ(job.memory, filled) << seed;
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
    job.direction = Direction::read;
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
    const Status done = job.run(seed);
    ASSERT_TRUE(done) << seed << ": " << done.error().text;
    ASSERT_EQ(job.memory, wanted) << seed;
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
