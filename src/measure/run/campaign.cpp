#include "measure/run/campaign.h"

#include <unistd.h>

#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/log.h"
#include "measure/quick.h"
#include "measure/table.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr double kBetweenProgress_s = 0.5;
constexpr double kBetweenLines_s = 30;  // where nobody watches
constexpr double kPerPoint_s = 0.3;
constexpr double kLookAhead = 0.03;  // share of the budget that finding out what it takes may have
constexpr size_t kFewestLooks = 8;
constexpr const char* kTimeIsOver = "the time was over before; --resume measures it";

// What a run may take where the user does not say.
double usual_budget(const Options& options, size_t points) {
  return options.quick ? kQuickBudget : kPerPoint_s * double(points);
}

}  // namespace

Campaign::Campaign(const Options& options, const std::vector<Point>& points, SamplesFile& file,
                   int launch)
    : options_(options),
      points_(points),
      file_(file),
      launch_(launch),
      budget_(options.budget > 0 ? options.budget : usual_budget(options, points.size())),
      found_(points.size()),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Status Campaign::run(Crew& crew) {
  start_ns_ = now_ns();
  const Statement statement = look_ahead(crew);
  say(statement);
  const double limit = options_.quick ? kQuickLimit * budget_ : std::numeric_limits<double>::max();
  timetable_.emplace(int(points_.size()), budget_ - elapsed(), options_.goal, limit - elapsed());
  const double before = elapsed();
  while (const auto next = timetable_->next(elapsed() - before)) {
    if (auto written = write_finished(); !written) return written;
    show_progress(elapsed() - before, points_[size_t(next->point)]);
    visit(crew, next->point, next->seconds);
    const Found& found = found_[size_t(next->point)];
    timetable_->visited(found.samples, !found.problem.empty());
  }
  if (terminal_) fputs("\r\033[K", stderr);
  if (auto written = write_finished(); !written) return written;
  return file_.add(end_record(launch_, statement.seconds, elapsed(), points_.size(), failed_));
}

double Campaign::elapsed() const { return double(now_ns() - start_ns_) * kNano; }

void Campaign::visit(Crew& crew, int point, double seconds) {
  Found& found = found_[size_t(point)];
  keep(found, crew.lead(point, seconds, found.batch));
}

// What the run will take; with `budget_` made large enough, if the user gave none.
Statement Campaign::look_ahead(Crew& crew) {
  Forecast forecast(points_);
  size_t looks = 0;
  for (const int candidate : forecast.candidates()) {
    if (looks++ >= kFewestLooks && elapsed() > kLookAhead * budget_) break;
    const double begin = elapsed();
    visit(crew, candidate, Timetable::kShortest);
    forecast.add(candidate, elapsed() - begin);
  }
  const Statement statement = state(forecast, budget_, elapsed(), Timetable::kRounds);
  if (options_.budget > 0 || options_.quick || statement.needed == 0) return statement;
  budget_ = statement.needed;
  return state(forecast, budget_, elapsed(), Timetable::kRounds);
}

void Campaign::say(const Statement& statement) const {
  if (points_.empty()) return;
  if (statement.needed > 0)
    log(LogLevel::warn,
        "{:g} s are little for {} points here: one short visit to each takes {}, {} visits {} "
        "(--budget {:.0f})",
        budget_, points_.size(), duration(statement.one_each), Timetable::kRounds,
        duration(statement.needed), std::ceil(statement.needed));
  fmt::print(stderr, "haichi measure: this will take about {}\n", duration(statement.seconds));
}

void Campaign::keep(Found& found, const VisitResult& result) const {
  if (!result.problem.empty()) {
    if (found.samples.count() == 0) found.problem = result.problem;
    return;
  }
  if (found.visits++ == 0) found.first = result.first;
  found.batch = result.batch;
  for (const double sample : result.samples) found.samples.add(sample);
  if (options_.raw) found.raw.insert(found.raw.end(), result.samples.begin(), result.samples.end());
}

Status Campaign::write_finished() {
  for (const int i : timetable_->finished()) {
    const Point& point = points_[size_t(i)];
    const Found& found = found_[size_t(i)];
    if (found.samples.count() == 0) {
      ++failed_;
      const std::string problem = found.problem.empty() ? kTimeIsOver : found.problem;
      log(LogLevel::warn, "{} of {} bytes ({}) can't be measured: {}", point.measurement->name,
          point.bytes, point.place, problem);
      if (auto added = file_.add(record_of(point, problem, launch_)); !added) return added;
      continue;
    }
    if (!file_.describes(point.measurement->name)) {
      if (auto added = file_.add(record_of(*point.measurement)); !added) return added;
    }
    if (auto added = file_.add(record_of(point, found, options_.goal, launch_)); !added)
      return added;
  }
  return {};
}

void Campaign::show_progress(double elapsed, const Point& point) {
  if (elapsed - shown_ < (terminal_ ? kBetweenProgress_s : kBetweenLines_s)) return;
  shown_ = elapsed;
  const std::string text =
      fmt::format("{} of {} points, about {} left: {} {}", timetable_->done(), points_.size(),
                  duration(timetable_->left(elapsed)), point.measurement->name, point.bytes);
  if (terminal_)
    fmt::print(stderr, "\r\033[K{}", text);
  else
    fmt::print(stderr, "haichi measure: {}\n", text);
}

}  // namespace haichi::measure
