// Collective file accesses of a whole job under everything that may go wrong in the MPI library
// (tests/fake_mpi): from MPI_Init to MPI_Finalize, by the hooks that a program's calls come to.
#include "mpi/access/collective_io.h"

#include <dirent.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "fake_mpi/job.h"
#include "fake_mpi/two_nodes.h"
#include "fmt/format.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {
namespace {

using test::JobOptions;
using test::RankEnd;

constexpr int kRanks = 4;
constexpr int kPiece = 3000, kPieces = 40;  // of each rank, and they interleave
constexpr int kWithoutHaichi = 1000, kWrongBytes = 1001, kDescriptorsLeft = 1002;

// haichi's duplicate of MPI_COMM_WORLD lives until MPI_Finalize.
constexpr const char* kKept = "1 communicators";

char byte_at(int rank, int at) { return char(1 + (rank * 31 + at * 7) % 120); }

int descriptors() {
  int count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

/// The ranks' pieces in the file, by turns.
std::string whole_file() {
  std::string bytes;
  for (int piece = 0; piece < kPieces; ++piece)
    for (int rank = 0; rank < kRanks; ++rank)
      for (int at = 0; at < kPiece; ++at) bytes += byte_at(rank, piece * kPiece + at);
  return bytes;
}

class CollectiveAccess : public testing::TestWithParam<const char*> {
 protected:
  std::string file() const { return nodes_.folder() + "/file"; }
  bool writes() const { return std::string_view(GetParam()) == "write"; }

  /// One access by all ranks. Gives what the program's call returns, or one of the numbers above.
  int access(int rank, test::Watch& watch) const {
    const int descriptors_before = descriptors();
    nodes_.tell();
    setenv("HAICHI_IO_LIBRARY", "off", 1);
    setenv("HAICHI_IO_BUFFER", "98304", 1);  // some cycles
    on_Init(nullptr, nullptr);
    if (!Runtime::get()) return kWithoutHaichi;
    MPI_Datatype piece, tile;
    real().Type_contiguous(kPiece, handles().byte, &piece);
    real().Type_create_resized(piece, 0, kPiece * kRanks, &tile);
    MPI_File opened;
    const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    on_File_open(handles().comm_world, file().c_str(), mode, handles().info_null, &opened);
    on_File_set_view(opened, kPiece * rank, handles().byte, tile, "native", handles().info_null);
    std::string bytes(size_t(kPiece * kPieces), '\0');
    for (int at = 0; writes() && at < kPiece * kPieces; ++at) bytes[size_t(at)] = byte_at(rank, at);
    MPI_Status status;
    watch.begin();
    int result = writes() ? on_File_write_at_all(opened, 0, bytes.data(), int(bytes.size()),
                                                 handles().byte, &status)
                          : on_File_read_at_all(opened, 0, bytes.data(), int(bytes.size()),
                                                handles().byte, &status);
    watch.end();
    for (int at = 0; result == MPI_SUCCESS && at < kPiece * kPieces; ++at)
      if (bytes[size_t(at)] != byte_at(rank, at)) result = kWrongBytes;
    on_File_close(&opened);
    real().Type_free(&tile);
    real().Type_free(&piece);
    on_Finalize();
    if (result == MPI_SUCCESS && descriptors() != descriptors_before) result = kDescriptorsLeft;
    return result;
  }

  std::vector<RankEnd> run(const JobOptions& options) const {
    std::filesystem::remove(file());
    if (!writes()) std::ofstream(file()) << whole_file();
    return test::run_job(options,
                         [this](int rank, test::Watch& watch) { return access(rank, watch); });
  }

  bool file_is_right() const {
    std::ifstream in(file(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    return bytes == whole_file();
  }

  /// Whatever went wrong: the job ended; it was aborted, or every rank was told the same, and the
  /// bytes are right where no rank was told of an error.
  void expect_sound(const std::vector<RankEnd>& ends, const std::string& when) const {
    const std::string text = when + ": " + test::text_of(ends);
    std::set<RankEnd::How> how;
    std::set<int> results;
    for (const RankEnd& end : ends) {
      how.insert(end.how);
      results.insert(end.result);
      if (end.how == RankEnd::How::returned) {
        EXPECT_EQ(end.left, kKept) << text;
      }
    }
    EXPECT_THAT(how, testing::AnyOf(testing::ElementsAre(RankEnd::How::returned),
                                    testing::ElementsAre(RankEnd::How::aborted)))
        << text;
    EXPECT_EQ(results.size(), 1u) << text;
    for (const int wrong : {kWithoutHaichi, kWrongBytes, kDescriptorsLeft})
      EXPECT_FALSE(results.contains(wrong)) << text;
    if (results.contains(MPI_SUCCESS)) {
      EXPECT_TRUE(file_is_right()) << text;
    }
  }

  const test::TwoNodes nodes_{"collective-access"};
};

INSTANTIATE_TEST_SUITE_P(Directions, CollectiveAccess, testing::Values("write", "read"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(CollectiveAccess, IsRightInWhicheverOrderRequestsComplete) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto ends = run({.ranks = kRanks, .seed = seed});
    expect_sound(ends, fmt::format("seed {}", seed));
    EXPECT_EQ(ends[0].result, MPI_SUCCESS) << test::text_of(ends);
    EXPECT_EQ(ends[0].how, RankEnd::How::returned);
  }
}

TEST_P(CollectiveAccess, WaitsForARankThatIsLate) {
  for (int late = 0; late < kRanks; ++late) {
    const auto ends = run({.ranks = kRanks, .seed = 3, .late_rank = late, .late_ms = 100});
    expect_sound(ends, fmt::format("rank {} late", late));
    EXPECT_EQ(ends[0].result, MPI_SUCCESS) << test::text_of(ends);
  }
}

TEST_P(CollectiveAccess, EachCallOfTheLibraryMayFail) {
  for (const int rank : {0, 1}) {
    const int64_t calls = run({.ranks = kRanks, .seed = 1})[size_t(rank)].calls;
    ASSERT_GT(calls, 10);
    for (int64_t call = 0; call < calls; ++call) {
      const auto ends =
          run({.ranks = kRanks, .seed = 1, .failing_call = call, .failing_rank = rank});
      expect_sound(ends, fmt::format("call {} of rank {}", call, rank));
    }
  }
}

TEST_P(CollectiveAccess, MemoryMayBeRefused) {
  for (const int rank : {0, 1}) {
    const int64_t allocations = run({.ranks = kRanks, .seed = 1})[size_t(rank)].allocations;
    ASSERT_GT(allocations, 10);
    const int64_t apart = std::max<int64_t>(1, allocations / 40);
    for (int64_t which = rank; which < allocations; which += apart) {
      const auto ends =
          run({.ranks = kRanks, .seed = 1, .refused_memory = which, .failing_rank = rank});
      expect_sound(ends, fmt::format("allocation {} of rank {}", which, rank));
    }
  }
}

}  // namespace
}  // namespace haichi::mpi
