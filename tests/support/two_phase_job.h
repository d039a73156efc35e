// A collective access of a whole job in one process: real bytes, a file in memory, no MPI.
#pragma once

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "mpiio/storage/collective_buffer.h"
#include "mpiio/twophase/node_streams.h"
#include "mpiio/twophase/two_phase.h"
#include "support/checking_executor.h"
#include "support/random_placement.h"

namespace haichi::mpiio {

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
  int64_t windows_in_parts = 0;

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
    windows_in_parts = 0;
    for (int a = 0; a < plan.domains.aggregators(); ++a)
      for (int64_t c = 0; c < cycles; ++c) windows_in_parts += plan.domains.layout(a, c).in_parts();
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

/// Ranks on nodes and how they go about it, without accesses.
inline Job random_setting(test::Random& random) {
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
  return job;
}

/// Ranks own disjoint random pieces of the file, through views of several shapes.
inline Job random_job(test::Random& random, std::vector<int>& owner) {
  Job job = random_setting(random);
  const int ranks = job.placement.ranks();
  owner.assign(size_t(random.between(0, 800)), -1);
  for (size_t at = 0; at < owner.size();) {
    const size_t n = std::min(owner.size() - at, size_t(random.between(1, 40)));
    const int who = int(random.between(-1, ranks - 1));
    for (size_t i = 0; i < n; ++i) owner[at++] = who;
  }
  add_ranks(job, owner, [&] { return random.between(1, 3); });
  return job;
}

inline std::byte value_at(size_t offset) {
  return std::byte((offset * 7 + offset / 251) % 255 + 1);
}

inline void fill_memory(Job& job, const std::vector<int>& owner) {
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
inline void write_all_right(Job& job, const std::vector<int>& owner, uint64_t seed) {
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

/// Reads into the ranks' memory, and compares every byte of it.
inline void read_all_right(Job& job, const std::vector<std::vector<std::byte>>& wanted,
                           uint64_t seed) {
  job.direction = Direction::read;
  const Status done = job.run(seed);
  ASSERT_TRUE(done) << seed << ": " << done.error().text;
  for (const Status& s : job.statuses) ASSERT_TRUE(s) << seed << ": " << s.error().text;
  ASSERT_EQ(job.memory, wanted) << seed;
}

}  // namespace haichi::mpiio
