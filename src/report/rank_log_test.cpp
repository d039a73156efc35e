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
    const std::string head = sealed_frame(
        FrameKind::text,
        fmt::format(R"({{"schema":"haichi.log/2","job":"j","node":0,"first":{},"share":{}}})",
                    layout.of_rank_0(), layout.of_others()));
    return std::make_unique<RankLog>(os_, LogPlace{path(), *layout.part(0, rank), head},
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

  static CallRecord call(int64_t index) {
    CallRecord record;
    record.index = index;
    record.call = "MPI_File_write_all";
    return record;
  }
  static FileRecord file() {
    FileRecord record;
    record.key = 7;
    record.path = "data";
    return record;
  }

  std::string root_;
  SmallOs os_;
};

TEST_F(Log, HasWhatWasShownLastAtEveryMoment) {
  const auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 0));
  log->add_file(file());
  for (int64_t i = 0; i < 20; ++i) {
    log->add_call(7, call(i));
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
  second->add_file(file());
  CallRecord of_second = call(0), of_first = call(0);
  of_second.bytes_inside = 5;
  of_first.bytes_inside = 4;
  of_first.why = {"a reason"};
  second->add_call(7, of_second);
  second->show(totals(1, 1));
  first->add_file(file());
  first->add_call(7, of_first);
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
  other->end(R"({"by":"MPI_Abort","code":7,"rank":1,"at":2.5})", nullptr);
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
    log->add_call(7, call(i));
    log->show(totals(1, i));
  }
  log->end(R"({"by":"MPI_Abort","code":1,"rank":1,"at":1.0})", nullptr);
  EXPECT_LE(fs::file_size(path()), 4096u);
  EXPECT_EQ(read_file(path())->substr(0, before.size()), before) << "rank 0's part";
  const json cut = read()["cut"];
  EXPECT_GT(cut["records_lost"], 50);
  EXPECT_EQ(cut["records_damaged"], 0);
  EXPECT_EQ(cut["by"], "MPI_Abort");
}

TEST_F(Log, TakesATwoHundredthOfTheTime) {
  os_.write_ns = 1'000'000;  // of a file system that is far away
  const auto log = of_rank(0, 1 << 20);
  log->add(kHeader);
  log->add_file(file());
  const int64_t begin = SmallOs::clock_ns;
  int64_t working = 0;
  for (int64_t i = 0; i < 20'000; ++i) {
    SmallOs::clock_ns += 100'000;
    working += 100'000;
    if (i < 100) log->add_call(7, call(i));
    if (log->has_time(SmallOs::clock_ns)) log->show(totals(0, i));
  }
  const int64_t writing = SmallOs::clock_ns - begin - working;
  EXPECT_LE(writing, working / 200 + 5 * os_.write_ns);
  EXPECT_GE(writing, working / 400) << "and uses it";
  EXPECT_EQ(read()["files"][0]["calls"].size(), 100u);
}

TEST_F(Log, MayTakeTwiceTheShareWhereNothingMayComeForLong) {
  os_.write_ns = 500'000;
  const auto log = of_rank(0);
  log->add(kHeader);
  log->show(totals(0, 0));  // opens, so three writes
  SmallOs::clock_ns += 200'000'000;
  EXPECT_FALSE(log->has_time(SmallOs::clock_ns));
  EXPECT_TRUE(log->has_time(SmallOs::clock_ns, true));
}

TEST_F(Log, HasInTheEndWhatThereWasNoTimeFor) {
  const auto log = of_rank(0);
  log->add(kHeader);
  log->add_file(file());
  for (int64_t i = 0; i < 5; ++i) log->add_call(7, call(i));
  const Totals last = totals(0, 5);
  log->end(R"({"by":"MPI_Abort","code":1,"rank":0,"at":1.0})", &last);
  const json report = read();
  EXPECT_EQ(report["files"][0]["calls"].size(), 5u);
  EXPECT_EQ(report["ranks"][0]["collective_access"]["calls"], 5);
}

TEST_F(Log, HasTheWordsOfCallsThatAreAlikeOnce) {
  const auto log = of_rank(0, 1 << 20);
  log->add(kHeader);
  log->add_file(file());
  log->show(totals(0, 0));
  const auto bytes_of = [&](int64_t index, std::string why) {
    const auto before = int64_t(fs::file_size(path()));
    CallRecord record = call(index);
    record.why = {std::move(why)};
    log->add_call(7, record);
    log->show(totals(0, index));
    return int64_t(fs::file_size(path())) - before;
  };
  const std::string one(500, 'a'), other(500, 'b');
  EXPECT_GT(bytes_of(0, one), 500);
  EXPECT_GT(bytes_of(1, other), 500);
  for (int64_t i = 2; i < 40; ++i) EXPECT_LT(bytes_of(i, i % 2 ? one : other), 50) << i;
  // More at a time than are remembered.
  for (int64_t i = 40; i < 80; ++i) bytes_of(i, std::string(size_t(i), 'c'));
  const json calls = read()["files"][0]["calls"];
  ASSERT_EQ(calls.size(), 80u);
  for (size_t i = 2; i < 40; ++i) EXPECT_EQ(calls[i]["why"], json({i % 2 ? one : other})) << i;
  for (size_t i = 40; i < 80; ++i) EXPECT_EQ(calls[i]["why"], json({std::string(i, 'c')})) << i;
}

TEST_F(Log, HasTheWordsOfCallsBehindOneThatHasNoRoom) {
  const auto log = of_rank(0, 1 << 20);
  log->add(kHeader);
  log->add_file(file());
  CallRecord large = call(0);
  large.why = {std::string(300'000, 'a')};  // more than may wait
  log->add_call(7, large);
  log->add_call(7, large);
  large.why = {"short"};
  log->add_call(7, large);
  log->show(totals(0, 2));
  const json report = read();
  ASSERT_EQ(report["files"][0]["calls"].size(), 1u);
  EXPECT_EQ(report["files"][0]["calls"][0]["why"], json({"short"}));
  EXPECT_EQ(report["cut"]["records_lost"], 2);
  EXPECT_EQ(report["cut"]["records_damaged"], 0);
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
  log.end("{}", nullptr);
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
  log->end("{}", nullptr);
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
      log->add_call(7, call(i));
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
    log->end(R"({"by":"MPI_Abort","code":7,"rank":0,"at":1.0})", nullptr);
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(read()["cut"].contains("by"));
}

TEST(ReportOfLogs, RefusesWhatIsNone) {
  EXPECT_FALSE(report_of_logs({""}));
  EXPECT_FALSE(report_of_logs({std::string(5000, '\0')}));
  EXPECT_FALSE(report_of_logs({"{\"schema\":\"haichi.log/2\"}\n"})) << "without a checksum";
  const std::string head = sealed_frame(FrameKind::text, R"({"schema":"haichi.log/2","job":"j"})");
  EXPECT_THAT(report_of_logs({head}).error().text, HasSubstr("rank 0 has left no log"));
  const std::string other = sealed_frame(FrameKind::text, R"({"schema":"haichi.log/2","job":"k"})");
  EXPECT_THAT(report_of_logs({head, other}).error().text, HasSubstr("of another run"));
}

}  // namespace
}  // namespace haichi::report
