// Nonblocking and persistent all-to-alls of a whole job under everything that may go wrong in the
// MPI library (tests/fake_mpi): by the hooks that a program's calls come to.
#include "mpi/collectives/nonblocking_exchange.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fake_mpi/job.h"
#include "fake_mpi/two_nodes.h"
#include "fmt/format.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/collectives/nonblocking_peers.h"
#include "mpi/compat/handles.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {
namespace {

using test::JobOptions;
using test::RankEnd;

constexpr int kRanks = 4;
constexpr int kBlock = 700;   // bytes from each rank to each
constexpr int kRounds = 3;    // starts of a persistent one, or calls
constexpr int kTogether = 2;  // under way at a time
constexpr int kWithoutHaichi = 1000, kWrongBytes = 1001;

char byte_of(int from, int to, int round, int at) {
  return char(1 + (from * 31 + to * 7 + round * 13 + at) % 120);
}

/// The buffers of one exchange.
struct Blocks {
  std::vector<char> out = std::vector<char>(kBlock * kRanks);
  std::vector<char> in = std::vector<char>(kBlock * kRanks);

  void fill(int rank, int round) {
    for (int to = 0; to < kRanks; ++to)
      for (int at = 0; at < kBlock; ++at)
        out[size_t(to * kBlock + at)] = byte_of(rank, to, round, at);
    std::ranges::fill(in, '\0');
  }
  bool right(int rank, int round) const {
    for (int from = 0; from < kRanks; ++from)
      for (int at = 0; at < kBlock; ++at)
        if (in[size_t(from * kBlock + at)] != byte_of(from, rank, round, at)) return false;
    return true;
  }
};

/// A program with the library's default error handler: what fails ends the job.
void must(int code) {
  if (code != MPI_SUCCESS) real().Abort(handles().comm_world, code);
}

class Exchanges : public testing::TestWithParam<const char*> {
 protected:
  static bool persistent() { return std::string_view(GetParam()) == "persistent"; }

  static void begin(Blocks& blocks, MPI_Request* request) {
    const MPI_Datatype byte = handles().byte;
    const MPI_Comm world = handles().comm_world;
    must(persistent() ? on_Alltoall_init(blocks.out.data(), kBlock, byte, blocks.in.data(), kBlock,
                                         byte, world, handles().info_null, request)
                      : on_Ialltoall(blocks.out.data(), kBlock, byte, blocks.in.data(), kBlock,
                                     byte, world, request));
  }

  /// Waits by MPI_Wait, or by MPI_Waitsome for whichever ends.
  static void wait(std::vector<MPI_Request>& requests, bool by_some) {
    if (!by_some) {
      for (MPI_Request& each : requests) must(on_Wait(&each, MPI_STATUS_IGNORE));
      return;
    }
    for (int open = int(requests.size()), done = 0; open > 0; open -= done) {
      int which[kTogether];
      MPI_Status statuses[kTogether];
      must(on_Waitsome(int(requests.size()), requests.data(), &done, which, statuses));
      if (done == MPI_UNDEFINED) return;
    }
  }

  int exchange(int rank, test::Watch& watch) const {
    nodes_.tell();
    setenv("HAICHI_COLLECTIVES_NONBLOCKING", "on", 1);
    setenv("HAICHI_COLLECTIVES_ALGORITHM", "spread(nd_rank_shift,0)", 1);
    on_Init(nullptr, nullptr);
    if (!Runtime::get() || !peers_of(handles().comm_world)) return kWithoutHaichi;
    std::vector<Blocks> blocks(kTogether);
    std::vector<MPI_Request> requests(kTogether, handles().request_null);
    int result = MPI_SUCCESS;
    watch.begin();
    if (persistent())
      for (int i = 0; i < kTogether; ++i) begin(blocks[size_t(i)], &requests[size_t(i)]);
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kTogether; ++i) blocks[size_t(i)].fill(rank, round * kTogether + i);
      if (persistent())
        must(on_Startall(kTogether, requests.data()));
      else
        for (int i = 0; i < kTogether; ++i) begin(blocks[size_t(i)], &requests[size_t(i)]);
      wait(requests, !persistent() && round % 2 == 1);
      for (int i = 0; i < kTogether; ++i)
        if (!blocks[size_t(i)].right(rank, round * kTogether + i)) result = kWrongBytes;
    }
    if (persistent())
      for (MPI_Request& each : requests) must(on_Request_free(&each));
    watch.end();
    on_Finalize();
    return result;
  }

  std::vector<RankEnd> run(JobOptions options) const {
    options.ranks = kRanks;
    options.types_fail = false;
    return test::run_job(options,
                         [this](int rank, test::Watch& watch) { return exchange(rank, watch); });
  }

  /// Whatever went wrong: the job ended. A rank that was through before an abort has the right
  /// bytes and keeps no request.
  static void expect_sound(const std::vector<RankEnd>& ends, const std::string& when) {
    const std::string text = when + ": " + test::text_of(ends);
    for (const RankEnd& end : ends) {
      EXPECT_THAT(end.how, testing::AnyOf(RankEnd::How::returned, RankEnd::How::aborted)) << text;
      if (end.how != RankEnd::How::returned) continue;
      EXPECT_EQ(end.result, MPI_SUCCESS) << text;
      const bool may_keep_one = end.failed == "MPI_Request_free";
      EXPECT_TRUE(may_keep_one || end.left.find("requests") == end.left.npos) << text;
    }
  }

  const test::TwoNodes nodes_{"exchanges"};
};

INSTANTIATE_TEST_SUITE_P(Forms, Exchanges, testing::Values("nonblocking", "persistent"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(Exchanges, AreRightInWhicheverOrderRequestsComplete) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto ends = run({.seed = seed});
    expect_sound(ends, fmt::format("seed {}", seed));
    EXPECT_EQ(ends[0].how, RankEnd::How::returned) << test::text_of(ends);
  }
}

TEST_P(Exchanges, WaitForARankThatIsLate) {
  for (int late = 0; late < kRanks; ++late) {
    const auto ends = run({.seed = 3, .late_rank = late, .late_ms = 50});
    expect_sound(ends, fmt::format("rank {} late", late));
    EXPECT_EQ(ends[0].how, RankEnd::How::returned) << test::text_of(ends);
  }
}

TEST_P(Exchanges, EachCallOfTheLibraryMayFail) {
  for (const int rank : {0, 3}) {
    const int64_t calls = run({.seed = 1})[size_t(rank)].calls;
    ASSERT_GT(calls, 10);
    for (int64_t call = 0; call < calls; ++call) {
      const auto ends = run({.seed = 1, .failing_call = call, .failing_rank = rank});
      expect_sound(ends, fmt::format("call {} of rank {}", call, rank));
    }
  }
}

TEST_P(Exchanges, MemoryMayBeRefused) {
  const int64_t allocations = run({.seed = 1})[1].allocations;
  ASSERT_GT(allocations, 10);
  for (int64_t which = 0; which < allocations; ++which) {
    const auto ends = run({.seed = 1, .refused_memory = which, .failing_rank = 1});
    expect_sound(ends, fmt::format("allocation {}", which));
  }
}

}  // namespace
}  // namespace haichi::mpi
