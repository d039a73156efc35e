// The schedule type, proven: collective operations written as schedules, run by the checking
// executor over placements, issue orders, windows, interleavings and both kinds of sending.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "plan/aggregators.h"
#include "plan/file_domains.h"
#include "plan/issue_order.h"
#include "support/checking_executor.h"
#include "support/list_schedule.h"
#include "support/memory_buffers.h"
#include "support/random_placement.h"

namespace haichi::test {
namespace {

using placement::Placement;
using plan::Extent;
using plan::IssueOrder;
using plan::Slice;
using plan::Step;

constexpr IssueOrder kOrders[] = {IssueOrder::rank, IssueOrder::pairwise, IssueOrder::nd_shift,
                                  IssueOrder::nd_rank_shift};
constexpr int kWindows[] = {0, 1, 4};

using Bytes = std::vector<std::byte>;

// Block of `from` for `to`: some are empty, and each byte tells where it belongs.
int64_t block_size(int from, int to) { return (from * 7 + to * 3) % 5; }
std::byte block_byte(int from, int to, int64_t i) {
  return std::byte(uint8_t(from * 31 + to * 17 + i));
}

// An all-to-all with blocks of any size, lazy: all receives, then all sends, in the issue order;
// the rank's own block is copied. Buffer 0 is sent, buffer 1 received: blocks of rank 0, 1, ... in
// turn.
class AllToAll : public plan::Schedule {
 public:
  AllToAll(const Placement& placement, IssueOrder order, int me, int window)
      : order_(placement, order, me), me_(me), window_(window) {
    for (int r = 0; r < placement.ranks(); ++r) {
      send_begin_.push_back(send_begin_.back() + block_size(me, r));
      receive_begin_.push_back(receive_begin_.back() + block_size(r, me));
    }
  }
  bool next(Step& step) override {
    const int ranks = order_.size();
    if (k_ == order_.position_of(me_)) ++k_;  // nothing to receive from itself
    if (k_ > 2 * ranks) return false;
    if (k_ == 2 * ranks) {
      step = wait_step();
    } else {
      const int peer = order_.peer(k_ % ranks);
      const Slice from{0, send_begin_[size_t(peer)], block_size(me_, peer)};
      const Slice to{1, receive_begin_[size_t(peer)], block_size(peer, me_)};
      step = k_ < ranks    ? receive_step(peer, to)
             : peer == me_ ? copy_step(from, to)
                           : send_step(peer, from);
    }
    ++k_;
    return true;
  }
  int max_outstanding() const override { return window_; }

  // What goes in, and what must come out.
  static Bytes bytes(int ranks, int me, bool received) {
    Bytes all;
    for (int r = 0; r < ranks; ++r) {
      const int from = received ? r : me, to = received ? me : r;
      for (int64_t i = 0; i < block_size(from, to); ++i) all.push_back(block_byte(from, to, i));
    }
    return all;
  }

 private:
  plan::PeerOrder order_;
  int me_, window_;
  std::vector<int64_t> send_begin_{0}, receive_begin_{0};
  int k_ = 0;
};

void check_all_to_all(const Placement& placement, IssueOrder order, int window,
                      const CheckOptions& options, bool scattered) {
  const int ranks = placement.ranks();
  std::vector<AllToAll> schedules;
  std::vector<MemoryBuffers> buffers(static_cast<size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    schedules.emplace_back(placement, order, r, window);
    const Bytes out = AllToAll::bytes(ranks, r, false), in = AllToAll::bytes(ranks, r, true);
    buffers[size_t(r)].memory = {out, Bytes(in.size())};
    buffers[size_t(r)].scattered = scattered;
  }
  std::vector<plan::Schedule*> steps;
  std::vector<plan::Buffers*> bytes;
  for (size_t r = 0; r < size_t(ranks); ++r) {
    steps.push_back(&schedules[r]);
    bytes.push_back(&buffers[r]);
  }
  CheckTally tally;
  const Status done = run_checked(steps, bytes, options, &tally);
  ASSERT_TRUE(done) << done.error().text << "\n" << describe(placement);
  ASSERT_EQ(tally.messages, int64_t{ranks} * (ranks - 1));
  if (window > 0) {
    ASSERT_LE(tally.most_outstanding, window);
  }
  for (int r = 0; r < ranks; ++r)
    ASSERT_EQ(buffers[size_t(r)].memory[1], AllToAll::bytes(ranks, r, true))
        << "rank " << r << ", " << name_of(order) << ", window " << window << ", seed "
        << options.seed << ", " << describe(placement);
}

TEST(Schedules, AllToAllDeliversInEveryOrderWithEveryWindow) {
  Random random(1);
  for (int trial = 0; trial < 120; ++trial) {
    const Placement placement = random_placement(random, 24);
    for (const IssueOrder order : kOrders)
      for (const int window : kWindows)
        for (const Completion completion : kCompletions) {
          check_all_to_all(placement, order, window, {uint64_t(trial), completion}, trial % 2 == 0);
          if (HasFatalFailure()) return;
        }
  }
}

TEST(Schedules, AllToAllOf400Ranks) {
  check_all_to_all(placement::block(25, 16), IssueOrder::nd_rank_shift, 4, {7}, false);
}

TEST(Schedules, TheWindowIsUsedUpToItsSize) {
  std::vector<Step> sends, receives;
  for (int i = 0; i < 20; ++i) {
    sends.push_back(send_step(1, {0, i, 1}));
    receives.push_back(receive_step(0, {0, i, 1}));
  }
  for (const int window : {0, 4}) {
    MemoryBuffers mine, yours;
    mine.memory = yours.memory = {Bytes(20)};
    CheckTally tally;
    int most = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      ListSchedule a(sends, window), b(receives, window);
      ASSERT_TRUE(run_checked({&a, &b}, {&mine, &yours}, {seed}, &tally));
      most = std::max(most, tally.most_outstanding);
    }
    if (window) {
      EXPECT_EQ(most, window);
    } else {
      EXPECT_GT(most, 4);
    }
  }
}

// Thousands of ranks, few messages each: a ring with halo exchange.
TEST(Schedules, NeighboursOf5000Ranks) {
  constexpr int kRanks = 5000;
  std::vector<ListSchedule> schedules;
  std::vector<MemoryBuffers> buffers(kRanks);
  for (int r = 0; r < kRanks; ++r) {
    const int left = (r + kRanks - 1) % kRanks, right = (r + 1) % kRanks;
    schedules.emplace_back(
        std::vector<Step>{receive_step(left, {0, 2, 2}), send_step(right, {0, 0, 2}), wait_step()},
        1);
    buffers[size_t(r)].memory = {{std::byte(r), std::byte(r >> 8), {}, {}}};
  }
  std::vector<plan::Schedule*> steps;
  std::vector<plan::Buffers*> bytes;
  for (size_t r = 0; r < kRanks; ++r) {
    steps.push_back(&schedules[r]);
    bytes.push_back(&buffers[r]);
  }
  ASSERT_TRUE(run_checked(steps, bytes, {.completion = Completion::either}));
  for (int r = 0; r < kRanks; ++r) {
    const int left = (r + kRanks - 1) % kRanks;
    ASSERT_EQ(buffers[size_t(r)].memory[0][2], std::byte(left)) << r;
    ASSERT_EQ(buffers[size_t(r)].memory[0][3], std::byte(left >> 8)) << r;
  }
}

// A small two-phase access (paper 000, Fig. 1): rank r has the r-th of unequal consecutive blocks
// of the file in buffer 0; buffer 1 is the collective buffer.
struct TwoPhase {
  const Placement& placement;
  IssueOrder order;
  std::vector<int> aggregators;
  plan::FileDomains domains;
  std::vector<Extent> blocks;
  bool writes;

  static Extent cut(const Extent& a, const Extent& b) {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
  }
  std::vector<Step> steps_of(int me) const {
    const plan::PeerOrder peers(placement, order, me);
    const auto index_of = [&](int rank) {
      const auto at = std::find(aggregators.begin(), aggregators.end(), rank);
      return at == aggregators.end() ? -1 : int(at - aggregators.begin());
    };
    std::vector<Step> steps;
    for (int64_t c = 0; c < domains.cycles(); ++c) {
      const int mine = index_of(me);
      const Extent window = mine < 0 ? Extent{} : domains.window(mine, c);
      const Slice buffer{1, 0, window.size()};
      steps.push_back(round_step(c));
      if (!writes && !window.empty()) {
        steps.push_back(file_read_step(buffer, window.begin));
        steps.push_back(file_wait_step());
      }
      std::vector<Step> sends;
      for (int k = 0; k < peers.size(); ++k) {
        const int peer = peers.peer(k);
        if (const Extent e = cut(window, blocks[size_t(peer)]); !e.empty()) {
          const Slice part{1, e.begin - window.begin, e.size()};
          if (writes)
            steps.push_back(receive_step(peer, part));
          else
            sends.push_back(send_step(peer, part));
        }
        const int theirs = index_of(peer);
        const Extent their_window = theirs < 0 ? Extent{} : domains.window(theirs, c);
        if (const Extent e = cut(their_window, blocks[size_t(me)]); !e.empty()) {
          const Slice part{0, e.begin - blocks[size_t(me)].begin, e.size()};
          if (writes)
            sends.push_back(send_step(peer, part));
          else
            steps.push_back(receive_step(peer, part));
        }
      }
      steps.insert(steps.end(), sends.begin(), sends.end());
      steps.push_back(wait_step());
      if (writes && !window.empty()) {
        steps.push_back(file_write_step(buffer, window.begin));
        steps.push_back(file_wait_step());
      }
    }
    return steps;
  }
};

void check_two_phase(Random& random, uint64_t seed) {
  const Placement placement = random_placement(random, 20);
  const int64_t start = random.below(50);
  std::vector<Extent> blocks;
  int64_t at = start;
  for (int r = 0; r < placement.ranks(); ++r) {
    blocks.push_back({at, at + random.below(40)});
    at = blocks.back().end;
  }
  const auto layout = random.below(2) ? plan::Layout::roundrobin : plan::Layout::packed;
  const auto chosen = choose_aggregators(placement, layout, int(random.below(6)), 0).ranks;
  const int64_t buffer = random.between(1, 64), stripe = random.below(2) * random.between(1, 64);
  const plan::FileDomains domains({start, at}, int(chosen.size()), buffer, stripe, 0);
  std::vector<std::byte> file(static_cast<size_t>(at));
  for (const bool writes : {true, false}) {
    const TwoPhase job{placement, kOrders[random.below(4)], chosen, domains, blocks, writes};
    std::vector<ListSchedule> schedules;
    std::vector<MemoryBuffers> buffers(size_t(placement.ranks()));
    std::vector<plan::Schedule*> steps;
    std::vector<plan::Buffers*> bytes;
    const int window = kWindows[random.below(3)];
    for (int r = 0; r < placement.ranks(); ++r) schedules.emplace_back(job.steps_of(r), window);
    for (size_t r = 0; r < buffers.size(); ++r) {
      buffers[r].memory = {Bytes(size_t(blocks[r].size())), Bytes(size_t(buffer))};
      for (int64_t i = 0; writes && i < blocks[r].size(); ++i)
        buffers[r].memory[0][size_t(i)] = std::byte(blocks[r].begin + i + 1);
      buffers[r].file = &file;
      steps.push_back(&schedules[r]);
      bytes.push_back(&buffers[r]);
    }
    const Status done = run_checked(steps, bytes, {seed, kCompletions[random.below(3)]});
    ASSERT_TRUE(done) << done.error().text << "\n" << describe(placement);
    ASSERT_EQ(int64_t(file.size()), at);
    for (int64_t i = 0; i < at; ++i)
      ASSERT_EQ(file[size_t(i)], i < start ? std::byte{0} : std::byte(i + 1)) << i;
    for (size_t r = 0; r < buffers.size(); ++r) {
      for (int64_t i = 0; i < blocks[r].size(); ++i)
        ASSERT_EQ(buffers[r].memory[0][size_t(i)], std::byte(blocks[r].begin + i + 1));
      ASSERT_EQ(int64_t(buffers[r].rounds.size()), domains.cycles());
    }
  }
}

TEST(Schedules, TwoPhaseAccessWritesAndReadsTheFile) {
  Random random(3);
  for (uint64_t trial = 0; trial < 1500; ++trial) {
    SCOPED_TRACE(trial);
    check_two_phase(random, trial);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace haichi::test
