#include "fake_mpi/job.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "fake_mpi/calls.h"
#include "fake_mpi/memory.h"
#include "fake_mpi/world.h"
#include "fmt/format.h"

namespace haichi::test {
namespace {

constexpr int64_t kAfterAbort = 1'000'000'000;

void sleep_ms(int ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000L};
  nanosleep(&time, nullptr);
}

/// Of this process, which is a rank.
class WatchOfRank : public Watch {
 public:
  explicit WatchOfRank(const JobOptions& options) : options_(options) {}
  void begin() override {
    if (self().rank == options_.late_rank) sleep_ms(options_.late_ms);
    const bool fails = self().rank == options_.failing_rank;
    watch_calls(fails ? options_.failing_call : -1);
    watch_memory(fails ? options_.refused_memory : -1);
  }
  void end() override {
    allocations_ = stop_watching_memory();
    stop_watching_calls();
  }
  int64_t allocations() const { return allocations_; }

 private:
  const JobOptions& options_;
  int64_t allocations_ = 0;
};

[[noreturn]] void be_rank(World& world, int rank,
                          const std::function<int(int rank, Watch& watch)>& body) noexcept {
  self() = {&world, rank};
  WatchOfRank watch(world.options);
  const int result = body(rank, watch);
  Ending& ending = world.ending(rank);
  ending.result = result;
  ending.calls = watched_calls();
  ending.allocations = watch.allocations();
  const std::string left = handles_left();
  snprintf(ending.left, sizeof ending.left, "%s", left.c_str());
  ending.returned = true;
  fflush(nullptr);
  _exit(0);
}

RankEnd end_of(World& world, int rank, int status, bool hung) {
  const Ending& ending = world.ending(rank);
  RankEnd end;
  end.failed = ending.failed;
  if (ending.returned) {
    end.how = RankEnd::How::returned;
    end.result = ending.result;
    end.calls = ending.calls;
    end.allocations = ending.allocations;
    end.left = ending.left;
  } else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL) {
    end.how = RankEnd::How::crashed;
    end.result = WTERMSIG(status);
  } else if (world.aborted() >= 0) {
    end.how = RankEnd::How::aborted;
    end.result = world.aborted();
  } else if (!hung) {
    end.how = RankEnd::How::crashed;
    end.result = WEXITSTATUS(status);
  }
  return end;
}

}  // namespace

std::vector<RankEnd> run_job(const JobOptions& options,
                             const std::function<int(int rank, Watch& watch)>& body, int limit_s) {
  World world(options);
  std::vector<pid_t> ranks;
  std::vector<int> statuses(size_t(options.ranks), 0);
  fflush(nullptr);
  for (int r = 0; r < options.ranks; ++r) {
    const pid_t pid = fork();
    if (pid == 0) be_rank(world, r, body);
    ranks.push_back(pid);
  }
  const int64_t begin_ns = now_ns();
  int64_t limit_ns = begin_ns + limit_s * int64_t{1'000'000'000};
  bool abort_seen = false, hung = false;
  for (size_t running = ranks.size(); running > 0;) {
    for (size_t r = 0; r < ranks.size(); ++r)
      if (ranks[r] > 0 && waitpid(ranks[r], &statuses[r], WNOHANG) == ranks[r]) {
        ranks[r] = 0;
        --running;
      }
    if (world.aborted() >= 0 && !std::exchange(abort_seen, true))
      limit_ns = std::min(limit_ns, now_ns() + kAfterAbort);
    if (now_ns() > limit_ns) {
      hung = !abort_seen;
      for (const pid_t rank : ranks)
        if (rank > 0) kill(rank, SIGKILL);
    }
    sleep_ms(1);
  }
  std::vector<RankEnd> ends;
  for (int r = 0; r < options.ranks; ++r)
    ends.push_back(end_of(world, r, statuses[size_t(r)], hung));
  return ends;
}

std::string text_of(const std::vector<RankEnd>& ends) {
  constexpr const char* kHow[] = {"returned", "aborted", "crashed", "hung"};
  std::string text;
  for (size_t r = 0; r < ends.size(); ++r) {
    const RankEnd& end = ends[r];
    text += fmt::format("{}rank {} {} {}", r == 0 ? "" : ", ", r, kHow[int(end.how)], end.result);
    if (!end.failed.empty()) text += fmt::format(" ({} failed)", end.failed);
    if (!end.left.empty()) text += fmt::format(" leaving {}", end.left);
  }
  return text;
}

}  // namespace haichi::test
