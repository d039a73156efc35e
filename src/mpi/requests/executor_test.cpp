#include "mpi/requests/executor.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <string.h>

#include "fake_mpi/fake_mpi.h"
#include "fake_mpi/job.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "support/list_schedule.h"

namespace haichi::mpi {
namespace {

using plan::Slice;
using plan::Step;
using test::JobOptions;
using test::RankEnd;
using test::run_job;

constexpr int kRanks = 4;
constexpr int kTag = 3;
constexpr int64_t kBlock = 40'000;  // a large message, which is received behind sends
constexpr int kRounds = 3;

/// A block for each rank to send, and one from each; every second one of them has to be packed.
class Blocks : public plan::Buffers {
 public:
  explicit Blocks(int rank) : out_(bytes()), in_(bytes()) {
    for (size_t i = 0; i < out_.size(); ++i) out_[i] = byte(rank, int(i) / int(kBlock));
  }
  static std::byte byte(int from, int to) { return std::byte(1 + from * 16 + to); }

  /// Wrong blocks of rank `me`.
  int wrong(int me) const {
    int count = 0;
    for (int from = 0; from < kRanks; ++from)
      for (int64_t i = 0; from != me && i < kBlock; ++i)
        if (in_[size_t(from * kBlock + i)] != byte(from, me)) {
          ++count;
          break;
        }
    return count;
  }

  std::byte* contiguous(const Slice& slice) override {
    return slice.begin / kBlock % 2 == 1 ? nullptr : at(slice);
  }
  void gather(const Slice& slice, std::byte* out) override {
    memcpy(out, at(slice), size_t(slice.size));
  }
  void scatter(const Slice& slice, const std::byte* in) override {
    memcpy(at(slice), in, size_t(slice.size));
  }
  bool order_free(const Slice& slice) override { return slice.begin / kBlock % 3 != 0; }
  void read_file(const Slice&, int64_t) override {}
  void write_file(const Slice&, int64_t) override {}

 private:
  static std::vector<std::byte> bytes() { return std::vector<std::byte>(size_t(kRanks * kBlock)); }
  std::byte* at(const Slice& slice) {
    return (slice.buffer == 1 ? out_ : in_).data() + slice.begin;
  }
  std::vector<std::byte> out_, in_;
};

/// All to all, a part of each block in each round.
test::ListSchedule all_to_all(int me, int window) {
  std::vector<Step> steps;
  const int64_t part = kBlock / kRounds;
  const auto slice = [&](int buffer, int block, int round) {
    const int64_t begin = round * part;
    return Slice{buffer, block * kBlock + begin, round + 1 < kRounds ? part : kBlock - begin};
  };
  for (int round = 0; round < kRounds; ++round) {
    const auto add = [&](Step step) {
      step.round = round;
      steps.push_back(step);
    };
    add({.kind = Step::Kind::round});
    for (int peer = 0; peer < kRanks; ++peer)
      if (peer != me) add(test::receive_step(peer, slice(2, peer, round)));
    for (int peer = 0; peer < kRanks; ++peer)
      if (peer != me) add(test::send_step(peer, slice(1, peer, round)));
    add(test::wait_step());
  }
  return test::ListSchedule(std::move(steps), window);
}

/// An errno value, or -1 if bytes are wrong.
int exchange(int rank, test::Watch& watch, int window) {
  Blocks blocks(rank);
  auto schedule = all_to_all(rank, window);
  Executor executor(handles().comm_world, kTag, nullptr);
  watch.begin();
  const Status done = executor.run(schedule, blocks);
  watch.end();
  if (!done) return done.error().code;
  return blocks.wrong(rank) == 0 ? 0 : -1;
}

TEST(Executor, TakesRequestsInAnyOrder) {
  for (int window : {0, 1, 2})
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto ends = run_job({.ranks = kRanks, .seed = seed}, [&](int rank, test::Watch& watch) {
        return exchange(rank, watch, window);
      });
      for (const RankEnd& end : ends) {
        EXPECT_EQ(end.how, RankEnd::How::returned) << test::text_of(ends);
        EXPECT_EQ(end.result, 0) << "window " << window << ", seed " << seed;
        EXPECT_EQ(end.left, "");
      }
    }
}

TEST(Executor, WaitsForARankThatIsLate) {
  for (int late = 0; late < kRanks; ++late) {
    const auto ends =
        run_job({.ranks = kRanks, .seed = 5, .late_rank = late, .late_ms = 50},
                [](int rank, test::Watch& watch) { return exchange(rank, watch, 2); });
    for (const RankEnd& end : ends) EXPECT_EQ(end.result, 0) << test::text_of(ends);
  }
}

/// A rank whose call fails ends with an error of its own. Those that wait for it are its caller's
/// affair, and end with the job here.
TEST(Executor, FailsWhereACallFails) {
  const auto body = [](int rank, test::Watch& watch) {
    const int code = exchange(rank, watch, 2);
    if (code != 0) real().Abort(handles().comm_world, code);
    return code;
  };
  const auto whole = run_job({.ranks = kRanks, .seed = 1}, body);
  ASSERT_GE(whole[1].calls, kRounds * 6);
  std::vector<std::string> failed;
  for (int64_t call = 0; call < kRounds * 6; ++call) {
    const auto ends =
        run_job({.ranks = kRanks, .seed = 1, .failing_call = call, .failing_rank = 1}, body);
    for (const RankEnd& end : ends) {
      EXPECT_EQ(end.how, RankEnd::How::aborted) << call << ": " << test::text_of(ends);
      EXPECT_EQ(end.result, EIO) << call << ": " << test::text_of(ends);
    }
    failed.push_back(ends[1].failed);
  }
  EXPECT_THAT(failed, testing::Contains("MPI_Isend"));
  EXPECT_THAT(failed, testing::Contains("MPI_Irecv"));
  EXPECT_THAT(failed, testing::Contains("MPI_Testsome"));
}

TEST(Executor, SaysSoIfAMessageIsLongerThanItsRoom) {
  const auto ends = run_job({.ranks = 2}, [](int rank, test::Watch&) {
    Blocks blocks(rank);
    const int64_t size = rank == 0 ? 200 : 100;
    test::ListSchedule schedule(
        {rank == 0 ? test::send_step(1, {1, 0, size}) : test::receive_step(0, {2, 0, size}),
         test::wait_step()});
    const Status done = Executor(handles().comm_world, kTag, nullptr).run(schedule, blocks);
    return done ? 0 : done.error().code;
  });
  EXPECT_EQ(ends[0].result, 0) << test::text_of(ends);
  EXPECT_EQ(ends[1].result, EMSGSIZE) << test::text_of(ends);
}

/// Blocks for issue(): notes what it is asked for, and refuses message `refused`.
class NotedBlocks : public BlockMessages {
 public:
  explicit NotedBlocks(int refused = -1) : refused_(refused) {}
  int issue(const Step& step, MPI_Request* request) override {
    if (int(issued.size()) == refused_) return MPI_ERR_COUNT;
    issued += step.kind == Step::Kind::send ? 'S' : 'R';
    *request = test::handle_of<MPI_Request>(int64_t(issued.size()));
    return MPI_SUCCESS;
  }
  std::string issued;

 private:
  const int refused_;
};

test::ListSchedule messages(int64_t size) {
  return test::ListSchedule({test::receive_step(1, {2, 0, size}), test::send_step(1, {1, 0, size}),
                             test::receive_step(2, {2, 0, size}), test::send_step(2, {1, 0, size}),
                             test::wait_step()});
}

TEST(Executor, IssuesBlocksAndLeavesTheWaiting) {
  for (const auto& [size, order] : {std::pair<int64_t, std::string>{100, "RSRS"},
                                    std::pair<int64_t, std::string>{1 << 20, "SSRR"}}) {
    NotedBlocks blocks;
    auto schedule = messages(size);
    std::vector<MPI_Request> requests;
    EXPECT_EQ(Executor(blocks).issue(schedule, requests), MPI_SUCCESS);
    EXPECT_EQ(blocks.issued, order);
    EXPECT_THAT(requests, testing::ElementsAre(
                              test::handle_of<MPI_Request>(1), test::handle_of<MPI_Request>(2),
                              test::handle_of<MPI_Request>(3), test::handle_of<MPI_Request>(4)));
  }
}

TEST(Executor, GivesTheLibrarysErrorAndWhatWasIssuedBefore) {
  NotedBlocks blocks(2);
  auto schedule = messages(100);
  std::vector<MPI_Request> requests;
  EXPECT_EQ(Executor(blocks).issue(schedule, requests), MPI_ERR_COUNT);
  EXPECT_EQ(requests.size(), 2u);
}

}  // namespace
}  // namespace haichi::mpi
