#include "report/rank_log.h"

#include <errno.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/read_logs.h"

namespace haichi::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;

/// A disk that is full from some write on, and writes that take their time.
class SmallOs : public Os {
 public:
  int64_t pwrite(int fd, const void* data, size_t size, int64_t offset) override {
    clock_ns += write_ns;
    if (writes_left == 0) return -ENOSPC;
    --writes_left;
    return Os::pwrite(fd, data, size, offset);
  }
  int64_t writes_left = INT64_MAX;
  int64_t write_ns = 0;
  static inline int64_t clock_ns = 0;
  static int64_t clock() { return clock_ns; }
};

constexpr const char* kHeader =
    R"({"report":{"schema":"haichi.report/1","haichi":"0","program":{"command":"./app","ranks":2,)"
    R"("started":"2026-01-01T00:00:00Z","wall_s":0},"mpi":{"abi":"mpich","library":"a"},)"
    R"("placement":{"schema":"haichi.placement/1","nodes":[{"name":"n","ranks":"0-1"}]},)"
    R"("settings":[]}})";

class Log : public ::testing::Test {
 protected:
  Log() {
    char name[] = "/tmp/haichi-log-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Log() override { fs::remove_all(root_); }

  std::string path() const { return root_ + "/run.json.log-0123456789abcdef-0"; }
  std::unique_ptr<RankLog> of_rank(int rank, int64_t most_bytes = 1 << 16) {
    const LogLayout layout(2, 1, 2, most_bytes);
    const std::string head =
        fmt::format(R"({{"schema":"haichi.log/1","job":"j","node":0,"first":{},"share":{}}})",
                    layout.of_rank_0(), layout.of_others());
    return std::make_unique<RankLog>(os_, LogPlace{path(), *layout.part(0, rank), sealed(head)},
                                     SmallOs::clock);
  }
  static Totals totals(int rank, int64_t calls) {
    Totals all;
    all.rank = rank;
    all.since_start_ns = calls * 1'000'000;
    all.accesses.calls = calls;
    return all;
  }
  json read() const { return json::parse(report_of_logs({*read_file(path())}).value()); }

  static std::string call(int64_t index) {
    return fmt::format(R"({{"key":7,"call":{{"index":{},"call":"MPI_File_write_all"}}}})", index);
  }
  static constexpr const char* kFile = R"({"file":{"key":7,"path":"data"}})";

  std::string root_;
  SmallOs os_;
};

TEST_F(Log, HasWhatWasShownLastAtEveryMoment) {
  const auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 0));
  log->add(kFile);
  for (int64_t i = 0; i < 20; ++i) {
    log->add(call(i));
    log->show(totals(0, i + 1));
    const json report = read();
    EXPECT_EQ(report["files"][0]["calls"].size(), size_t(i + 1));
    EXPECT_EQ(report["ranks"][0]["collective_access"]["calls"], i + 1);
    EXPECT_EQ(report["cut"]["ranks_without_log"], "1");
    EXPECT_FALSE(report["cut"].contains("by"));
  }
}

TEST_F(Log, OfSeveralRanksIsOneFile) {
  const auto first = of_rank(0), second = of_rank(1);
  first->add(kHeader);
  first->show(totals(0, 0));
  second->add(kFile);
  second->add(R"({"key":7,"call":{"index":0,"call":"MPI_File_write_all","bytes_inside":5}})");
  second->show(totals(1, 1));
  first->add(kFile);
  first->add(R"({"key":7,"call":{"index":0,"call":"MPI_File_write_all","bytes_inside":4,)"
             R"("why":["a reason"]}})");
  first->show(totals(0, 1));
  const json report = read();
  ASSERT_EQ(report["files"].size(), 1u);
  EXPECT_EQ(report["files"][0]["calls"][0]["bytes_inside"], 9);
  EXPECT_EQ(report["cut"]["ranks_without_log"], "");
}

TEST_F(Log, ATornTotalLeavesTheOneBefore) {
  const auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 1));
  log->show(totals(0, 2));
  const int fd = open(path().c_str(), O_RDWR);
  for (const int64_t place : {0, 1}) {
    std::string before = *read_file(path());
    ASSERT_EQ(pwrite(fd, "x", 1, kHeadBytes + place * kTotalsBytes + 20), 1);
    const auto left = report_of_logs({*read_file(path())});
    ASSERT_TRUE(left);
    const auto calls = json::parse(*left)["ranks"][0]["collective_access"]["calls"];
    EXPECT_EQ(calls, place == 0 ? 1 : 2) << "the second was shown in place 0";
    ASSERT_EQ(pwrite(fd, before.data(), before.size(), 0), ssize_t(before.size()));
  }
  close(fd);
}

TEST_F(Log, SaysWhoEndedTheJob) {
  const auto log = of_rank(0), other = of_rank(1);
  log->add(kHeader);
  log->show(totals(0, 1));
  other->end(R"({"by":"MPI_Abort","code":7,"rank":1,"at":2.5})");
  const json cut = read()["cut"];
  EXPECT_EQ(cut["by"], "MPI_Abort");
  EXPECT_EQ(cut["code"], 7);
  EXPECT_EQ(cut["rank"], 1);
  EXPECT_EQ(cut["ranks_without_log"], "1") << "it had recorded nothing";
}

TEST_F(Log, CountsWhatHasNoRoomAndStaysWithinItsPart) {
  const auto log = of_rank(1, 4096);
  const auto first = of_rank(0, 4096);
  first->add(kHeader);
  first->show(totals(0, 0));
  const std::string before = *read_file(path());
  for (int64_t i = 0; i < 100; ++i) {
    log->add(call(i));
    log->show(totals(1, i));
  }
  log->end(R"({"by":"MPI_Abort","code":1,"rank":1,"at":1.0})");
  EXPECT_TRUE(log->full());
  EXPECT_LE(fs::file_size(path()), 4096u);
  EXPECT_EQ(read_file(path())->substr(0, before.size()), before) << "rank 0's part";
  const json cut = read()["cut"];
  EXPECT_GT(cut["records_lost"], 50);
  EXPECT_EQ(cut["lines_damaged"], 0);
  EXPECT_EQ(cut["by"], "MPI_Abort");
}

TEST_F(Log, TakesAHundredthOfTheTime) {
  os_.write_ns = 1'000'000;  // of a file system that is far away
  const auto log = of_rank(0, 1 << 20);
  log->add(kHeader);
  const int64_t begin = SmallOs::clock_ns;
  int64_t working = 0;
  for (int64_t i = 0; i < 20'000; ++i) {
    SmallOs::clock_ns += 100'000;
    working += 100'000;
    if (i < 100) log->add(call(i));
    log->show(totals(0, i));
  }
  const int64_t writing = SmallOs::clock_ns - begin - working;
  EXPECT_LE(writing, 5'000'000 + working / 100 + 3 * os_.write_ns);
  EXPECT_GE(writing, working / 200) << "and uses it";
}

TEST_F(Log, CountsWhatItTakesToMakeARecord) {
  const auto log = of_rank(0, 1 << 20);
  log->add(kHeader);
  EXPECT_TRUE(log->has_time());
  log->show(totals(0, 0), 6'000'000);
  EXPECT_FALSE(log->has_time());
  SmallOs::clock_ns += 200'000'000;
  EXPECT_TRUE(log->has_time());
}

TEST_F(Log, IsGivenUpOnAFullDisk) {
  const auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 1));
  os_.writes_left = 0;
  log->show(totals(0, 2));
  EXPECT_THAT(log->trouble(), HasSubstr("No space left"));
  EXPECT_EQ(log->trouble(), "") << "said once";
  os_.writes_left = INT64_MAX;
  log->show(totals(0, 3));
  EXPECT_EQ(read()["ranks"][0]["collective_access"]["calls"], 1);
}

TEST_F(Log, IsGivenUpWhereNoFileCanBeMade) {
  const LogLayout layout(2, 1, 2, 1 << 16);
  RankLog log(os_, {root_ + "/none/x", *layout.part(0, 0), "x"}, SmallOs::clock);
  log.add("{}");
  log.show(totals(0, 1));
  EXPECT_THAT(log.trouble(), HasSubstr("No such file"));
  log.end("{}");
}

TEST_F(Log, NeverWritesIntoAnotherFileThatHasItsDescriptor) {
  auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 1));
  const std::string others = root_ + "/others";
  const int fd = open(others.c_str(), O_RDWR | O_CREAT, 0600);
  int ours = -1;
  for (int each = 3; each < 64 && ours < 0; ++each)
    if (std::error_code none;
        fs::read_symlink(fmt::format("/proc/self/fd/{}", each), none) == path())
      ours = each;
  ASSERT_GE(ours, 0);
  ASSERT_EQ(dup2(fd, ours), ours);
  log->show(totals(0, 2));
  log->end("{}");
  EXPECT_THAT(log->trouble(), HasSubstr("closed its descriptor"));
  log.reset();
  EXPECT_EQ(fs::file_size(others), 0u);
  EXPECT_EQ(fcntl(ours, F_GETFD), 0) << "it is not haichi's to close";
  close(ours);
  close(fd);
}

TEST_F(Log, DoesNotEndAProgramWhoseFilesMayNotGrow) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit small = {1024, 1024};
    setrlimit(RLIMIT_FSIZE, &small);
    const auto log = of_rank(0);
    log->add(kHeader);
    for (int64_t i = 0; i < 10; ++i) {
      log->add(call(i));
      log->show(totals(0, i));
    }
    _exit(log->trouble().empty() ? 1 : 0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Log, AChildOfTheProcessEndsNothing) {
  const auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 1));
  const pid_t child = fork();
  if (child == 0) {
    log->end(R"({"by":"MPI_Abort","code":7,"rank":0,"at":1.0})");
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(read()["cut"].contains("by"));
}

TEST(ReportOfLogs, RefusesWhatIsNone) {
  EXPECT_FALSE(report_of_logs({""}));
  EXPECT_FALSE(report_of_logs({std::string(5000, '\0')}));
  EXPECT_FALSE(report_of_logs({"{\"schema\":\"haichi.log/1\"}\n"})) << "without a checksum";
  const std::string head = sealed(R"({"schema":"haichi.log/1","job":"j"})");
  EXPECT_THAT(report_of_logs({head}).error().text, HasSubstr("rank 0 has left no log"));
  const std::string other = sealed(R"({"schema":"haichi.log/1","job":"k"})");
  EXPECT_THAT(report_of_logs({head, other}).error().text, HasSubstr("of another run"));
}

}  // namespace
}  // namespace haichi::report
