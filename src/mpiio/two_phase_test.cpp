// Two-phase I/O of all ranks in one process: real bytes, a file in memory, no MPI.
#include "mpiio/two_phase.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>

#include <memory>
#include <mutex>
#include <set>

#include "mpiio/collective_buffer.h"
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
  uint32_t sharing_nodes = 0;  ///< bit n: the ranks of node n share memory
  bool has_workers = false;    ///< if the plan has a use for them
  MemoryFile file;
  std::vector<Status> statuses;
  FileTotals totals;

  bool shares(int node) const { return sharing_nodes >> node & 1; }

  Status run(uint64_t seed) {
    std::vector<RankDemand> demands;
    for (const Access& a : accesses)
      demands.push_back({a.hull(), a.end() - a.begin(), a.blocks(), 0, true, &a});
    options.may_go_direct = false;
    const TwoPhasePlan plan = plan_two_phase(placement, options, direction, demands);
    std::vector<std::unique_ptr<Worker>> workers(accesses.size());
    std::vector<std::unique_ptr<TwoPhaseSchedule>> schedules;
    std::vector<std::unique_ptr<CollectiveBuffer>> buffers;
    // A node that shares memory reaches the windows of its own aggregators, any other rank only its
    // own.
    std::vector<int> nodes;
    std::vector<std::vector<std::byte>> windows(
        plan.aggregators.ranks.size(), std::vector<std::byte>(size_t(2 * plan.window_bytes)));
    std::vector<plan::Schedule*> schedule_list;
    std::vector<plan::Buffers*> buffer_list;
    for (int r = 0; r < placement.ranks(); ++r) {
      schedules.push_back(std::make_unique<TwoPhaseSchedule>(
          placement, plan, r, accesses[size_t(r)], accesses, shares(placement.node_of(r))));
      nodes.push_back(placement.node_of(r));
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
                                   .others = &accesses,
                                   .windows = reached,
                                   .memory = memory[size_t(r)].data(),
                                   .memory_pattern = memory_patterns[size_t(r)],
                                   .file = {&file, 3, true},
                                   .holes = holes,
                                   .worker = workers[size_t(r)].get()}));
      schedule_list.push_back(schedules.back().get());
      buffer_list.push_back(buffers.back().get());
    }
    const Status done =
        test::run_checked(schedule_list, buffer_list,
                          {.seed = seed, .completion = test::Completion::either, .nodes = nodes});
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

/// Ranks own disjoint random pieces of the file, through views of several shapes.
Job random_job(test::Random& random, std::vector<int>& owner) {
  Job job;
  job.placement = test::random_placement(random, int(random.between(1, 9)));
  const int ranks = job.placement.ranks();
  job.options.layout = random.below(2) ? plan::Layout::packed : plan::Layout::roundrobin;
  job.options.order = plan::IssueOrder(random.below(4));
  job.options.aggregators = int(random.between(0, ranks));
  job.options.window = int(random.between(0, 4));
  job.options.buffer = random.between(1, 200);
  if (random.below(3) == 0) job.options.stripe_unit = random.between(1, 64);
  job.holes = Holes(random.below(3));
  job.sharing_nodes = uint32_t(random.below(1 << 9));
  job.options.keep_local = random.below(2);
  job.has_workers = random.below(4) == 0;
  owner.assign(size_t(random.between(0, 800)), -1);
  for (size_t at = 0; at < owner.size();) {
    const size_t n = std::min(owner.size() - at, size_t(random.between(1, 40)));
    const int who = int(random.between(-1, ranks - 1));
    for (size_t i = 0; i < n; ++i) owner[at++] = who;
  }
  for (int r = 0; r < ranks; ++r) {
    PatternBuilder tile;
    int64_t bytes = 0;
    for (size_t at = 0; at < owner.size(); ++at)
      if (owner[at] == r) tile.add(int64_t(at), 1), ++bytes;
    View view;
    if (bytes > 0) view = {0, tile.build(), int64_t(owner.size())};
    job.accesses.emplace_back(view, 0, bytes);
    const int64_t gap = random.between(1, 3);
    job.memory_patterns.push_back(Pattern::loop(Pattern::block(1), bytes, gap));
    job.memory.emplace_back(size_t(bytes * gap + 1));
  }
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

TEST(TwoPhase, WritesEveryByteOnceAndNothingElse) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    test::Random random(seed);
    std::vector<int> owner;
    Job job = random_job(random, owner);
    fill_memory(job, owner);
    job.file.bytes.assign(size_t(random.between(0, int64_t(owner.size()))), std::byte{0xEE});
    const auto before = job.file.bytes;
    if (random.below(2)) job.file.most_per_call = size_t(random.between(1, 17));
    job.file.interruptions = int(random.below(3));
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

TEST(TwoPhase, AFullDiskIsReportedAndWhatFitsIsKept) {
  Job job = interleaved(2, 100, 64, 64);
  job.options.buffer = 1024;
  job.file.fail_writes_from = 6000;
  ASSERT_TRUE(job.run(1));
  EXPECT_FALSE(job.statuses[0]);
  EXPECT_EQ(job.statuses[0].error().code, ENOSPC);
  EXPECT_EQ(job.file.bytes.size(), 5632u);  // eleven whole windows of half a buffer
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
    job.placement = test::random_placement(random, 4);
    job.options.buffer = random.between(8, 64);
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
