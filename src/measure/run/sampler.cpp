#include "measure/run/sampler.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "measure/case/watch.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
// Of a sample that a rank was late for; the maximum over ranks keeps it.
constexpr double kLate = std::numeric_limits<double>::infinity();
constexpr double kShortestWindow_s = 2e-6;
constexpr int kInACalibration = 5;
constexpr double kWindowForSample = 2;              // times what the fastest one took
constexpr double kManyLate = 0.1, kNarrower = 0.8;  // of a burst; what a window becomes if none is
// Until the first window all ranks have heard when it is.
constexpr double kLead_s = 30e-6;
// If most of so many bursts were late for most of their samples, a barrier is the better start.
constexpr int kEnoughToJudge = 4;
constexpr double kMost = 0.5;

// Sleeps not: what comes next shall begin at once.
void wait_until(int64_t ns) {
  while (now_ns() < ns) {
  }
}

}  // namespace

std::array<int, 2> Sampler::decide(std::array<int, 2> choice) const {
  return team_.from_first(choice);
}

void Sampler::one(int i, int batch, int64_t begin_ns) {
  attempt(problem_, [&] {
    for (int j = 0; j < batch; ++j) body_.call();
  });
  times_[size_t(i)] = double(now_ns() - begin_ns) * kNano;
  if (body_.after) attempt(problem_, body_.after);
}

const std::vector<double>& Sampler::burst(int count, int batch) {
  times_.resize(size_t(count));
  keep_watch(point_.measurement->name);
  failed_ = team_.any(!problem_.empty());
  if (!failed_) take(count, batch);
  end_watch();
  return times_;
}

void Sampler::take(int count, int batch) {
  const bool by_clock = window_ > 0;
  if (by_clock)
    by_the_clock(count, batch);
  else
    in_turn(count, batch);
  if ((point_.measurement->over == Over::slowest || by_clock) && team_.ranks() > 1)
    must(MPI_Reduce(team_.leads() ? MPI_IN_PLACE : times_.data(), times_.data(), count, MPI_DOUBLE,
                    MPI_MAX, 0, team_.comm()));
  if (by_clock) drop_missed(count);
}

void Sampler::in_turn(int count, int batch) {
  for (int i = 0; i < count; ++i) {
    if (point_.buffers == Buffers::cold) at_.cool();
    if (body_.before) attempt(problem_, body_.before);
    if (start_ != Start::back_to_back) team_.meet();
    one(i, batch, now_ns());
  }
}

// Each barrier more costs a time slice on a machine that has other work, so what is known is used.
// What is done beside the calls is not in `least`.
void Sampler::go_by_the_clock(int batch, double least) {
  if (start_ != Start::window || window_ > 0) return;
  double cycle = kWindowForSample * least;
  if (!may_batch_) {
    const int64_t begin_ns = now_ns();
    burst(kInACalibration, batch);
    cycle = double(now_ns() - begin_ns) * kNano / kInACalibration;
  }
  window_ = std::max(cycle, kShortestWindow_s);
}

// All ranks begin sample i at the same time of the first one's clock, and what a sample takes
// counts from there.
void Sampler::by_the_clock(int count, int batch) {
  struct {
    int64_t first;
    double window;
  } plan{now_ns() + int64_t((kLead_s + team_.clock().error()) / kNano), window_};
  plan = team_.from_first(plan);
  window_ = plan.window;
  for (int i = 0; i < count; ++i) {
    if (point_.buffers == Buffers::cold) at_.cool();
    if (body_.before) attempt(problem_, body_.before);
    const int64_t begin = team_.clock().own_at(plan.first + int64_t(i * window_ / kNano));
    const bool late = now_ns() > begin;
    wait_until(begin);
    one(i, batch, begin);
    // Whose time counts that is no maximum keeps it from the others, but not that they were late.
    const bool counts = point_.measurement->over == Over::slowest || team_.leads();
    if (late)
      times_[size_t(i)] = kLate;
    else if (!counts)
      times_[size_t(i)] = 0;
  }
}

// On all ranks alike: windows follow what samples need, and give way to barriers if ranks come late
// whatever they are.
void Sampler::drop_missed(int count) {
  times_.erase(std::remove(times_.begin(), times_.end(), kLate), times_.end());
  const int late = team_.from_first(count - int(times_.size()));
  missed_ += late;
  ++bursts_;
  late_bursts_ += late > count * kMost;
  if (late > count * kManyLate) window_ *= 2;
  if (late == 0) window_ = std::max(window_ * kNarrower, kShortestWindow_s);
  if (bursts_ < kEnoughToJudge || late_bursts_ <= bursts_ * kMost) return;
  start_ = Start::barrier;
  window_ = 0;
}

}  // namespace haichi::measure
