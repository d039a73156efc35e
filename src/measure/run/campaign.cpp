#include "measure/run/campaign.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "measure/table.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr double kBetweenProgress_s = 0.5;
constexpr double kBetweenLines_s = 30;  // where nobody watches

}  // namespace

Campaign::Campaign(const Options& options, const std::vector<Point>& points, double budget,
                   SamplesFile& file, int launch)
    : options_(options),
      points_(points),
      file_(file),
      launch_(launch),
      timetable_(int(points.size()), budget, options.goal),
      found_(points.size()),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Status Campaign::run(Crew& crew) {
  const int64_t start = now_ns();
  const auto elapsed = [&] { return double(now_ns() - start) * kNano; };
  while (const auto next = timetable_.next(elapsed())) {
    if (auto written = write_finished(); !written) return written;
    const Point& point = points_[size_t(next->point)];
    show_progress(elapsed(), point);
    Found& found = found_[size_t(next->point)];
    const VisitResult result = crew.lead(next->point, next->seconds, found.batch);
    keep(found, result);
    timetable_.visited(found.samples, !found.problem.empty());
  }
  if (terminal_) fputs("\r\033[K", stderr);
  return write_finished();
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
  for (const int i : timetable_.finished()) {
    const Point& point = points_[size_t(i)];
    const Found& found = found_[size_t(i)];
    if (found.samples.count() == 0) {
      ++failed_;
      log(LogLevel::warn, "{} of {} bytes ({}) can't be measured: {}", point.measurement->name,
          point.bytes, point.place, found.problem);
      if (auto added = file_.add(record_of(point, found.problem, launch_)); !added) return added;
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
      fmt::format("{} of {} points, {} left at most: {} {}", timetable_.done(), points_.size(),
                  duration(timetable_.left(elapsed)), point.measurement->name, point.bytes);
  if (terminal_)
    fmt::print(stderr, "\r\033[K{}", text);
  else
    fmt::print(stderr, "haichi measure: {}\n", text);
}

}  // namespace haichi::measure
