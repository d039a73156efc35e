#include "offline/simulate_size.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "offline/free_memory.h"

namespace haichi::offline {
namespace {

constexpr int kSmallRanks = 512, kLooks = 4;
constexpr double kWorthShowing = 5, kSecondsApart = 10;  // seconds

}  // namespace

Result<sim::Estimate> size_of(const patterns::Pattern& pattern, const patterns::Case& of) {
  if (of.placement.ranks() < kSmallRanks) return sim::Estimate{};
  const auto job = pattern.make(of);
  if (!job) return tl::unexpected(job.error());
  if (job->program_bytes > 0) return sim::Estimate{};
  std::vector<plan::Schedule*> some;
  for (int i = 0; i < kLooks; ++i)
    some.push_back(job->schedules[job->schedules.size() * size_t(i) / kLooks].get());
  return sim::estimate(of.placement, of.machine, some);
}

Status check_memory(int64_t most, int ranks, const sim::Estimate& estimate) {
  const auto there = most > 0 ? most : free_memory();
  if (!there || estimate.bytes <= *there) return {};
  return fail(
      ENOMEM,
      "{} ranks with {} messages need about {:.1f} GB of memory, and there are {:.1f}: take "
      "fewer ranks, an algorithm with fewer messages at a time, or say --memory SIZE if "
      "there is more",
      ranks, estimate.messages, double(estimate.bytes) / 1e9, double(*there) / 1e9);
}

SimulationProgress::SimulationProgress(bool asked_for, const sim::Estimate& estimate)
    : estimate_(estimate),
      terminal_(isatty(STDERR_FILENO) == 1),
      shown_(estimate.messages > 0 &&
             (asked_for || (terminal_ && estimate.seconds > kWorthShowing))) {
  if (!shown_) return;
  fprintf(stderr, "about %.3g messages: %.0f s on one core, %.2f GB of memory\n",
          double(estimate.messages), estimate.seconds, double(estimate.bytes) / 1e9);
}

SimulationProgress::~SimulationProgress() {
  if (shown_ && terminal_) fputs("\r\033[K", stderr);
}

void SimulationProgress::at(int64_t messages) {
  if (!shown_) return;
  const auto now = Clock::now();
  const auto since = [now](Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (since(last_) < (terminal_ ? 0.5 : kSecondsApart)) return;
  last_ = now;
  const double share = std::min(1.0, double(messages) / double(estimate_.messages));
  const double left = share > 0 ? since(begin_) * (1 - share) / share : estimate_.seconds;
  fprintf(stderr, "%s%.0f %% of the messages, %.0f s, still about %.0f s%s",
          terminal_ ? "\r\033[K" : "", share * 100, since(begin_), left, terminal_ ? "" : "\n");
  fflush(stderr);
}

}  // namespace haichi::offline
