#include "measure/run/campaign.h"

#include <unistd.h>

#include <cmath>
#include <limits>

#include "base/clock.h"
#include "base/log.h"
#include "measure/quick.h"
#include "measure/run/refine.h"
#include "measure/table.h"

namespace haichi::measure {
namespace {

constexpr double kNano = 1e-9;
constexpr double kBetweenProgress_s = 0.5;
constexpr double kBetweenLines_s = 30;  // where nobody watches
constexpr double kPerPoint_s = 0.3;
constexpr double kGridShare = 0.4;  // of the budget, where curves are refined with the rest
constexpr double kProbes = 40;      // that a curve has time for
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
      limit_(options.quick ? kQuickLimit * budget_ : std::numeric_limits<double>::max()),
      found_(points.size()),
      terminal_(isatty(STDERR_FILENO) == 1) {}

Status Campaign::run(Crew& crew) {
  start_ns_ = now_ns();
  const Statement statement = look_ahead(crew);
  say(statement);
  budget_ = std::max(budget_, statement.seconds);
  const double share = options_.refines() ? kGridShare : 1;
  if (auto measured = measure_points(crew, share * budget_ - elapsed()); !measured) return measured;
  if (auto refined = refine(crew); !refined) return refined;
  if (terminal_) fputs("\r\033[K", stderr);
  const double took = elapsed();
  fmt::print(stderr, "haichi measure: that took {}; {} were stated\n", duration(took),
             duration(statement.seconds));
  return file_.add(end_record(launch_, statement.seconds, took, points_.size(), failed_));
}

Status Campaign::measure_points(Crew& crew, double budget) {
  timetable_.emplace(int(points_.size()), budget, options_.goal, limit_ - elapsed(), looked_at_);
  const double before = elapsed();
  while (const auto next = timetable_->next(elapsed() - before)) {
    if (auto written = write_finished(); !written) return written;
    show_progress(elapsed() - before, points_[size_t(next->point)]);
    const Found& found = found_[size_t(next->point)];
    if (found.problem.empty()) visit(crew, next->point, next->seconds);
    timetable_->visited(found.samples, !found.problem.empty());
  }
  return write_finished();
}

// What is left of the budget is divided among the curves.
Status Campaign::refine(Crew& crew) {
  if (!options_.refines()) return {};
  const auto curves = curves_of(points_, found_);
  for (size_t i = 0; i < curves.size(); ++i) {
    const double begin = elapsed();
    const double mine = std::max(budget_ - begin, 0.0) / double(curves.size() - i);
    RefineCalls calls;
    calls.measure = [&](int point, int64_t bytes) {
      return probe(crew, point, bytes, std::max(mine / kProbes, Timetable::kShortest));
    };
    calls.over = [&] { return elapsed() > begin + mine; };
    calls.keep = [&](const Point& point, const Found& found, const char* role) {
      more_points_.push_back(point);
      more_found_.push_back(found);
      return file_.add(record_of(point, found, options_.goal, launch_, role));
    };
    calls.keep_switch = [&](const Point& point, const Switch& found) {
      fmt::print(stderr,
                 "{}haichi measure: {} ({}) switches behind {} bytes: {:.3f} us, then {:.3f}\n",
                 terminal_ ? "\r\033[K" : "", point.measurement->name, point.place,
                 found.below.bytes, found.below.median * 1e6, found.above.median * 1e6);
      return file_.add(record_of(point, found, launch_));
    };
    const RefineGoal goal{options_.goal.within, options_.refine, options_.switches};
    if (auto done = refine_curve(curves[i], points_, found_, goal, calls); !done) return done;
  }
  return {};
}

// In visits of a third of the time, fewer if the median is known well enough.
Found Campaign::probe(Crew& crew, int point, int64_t bytes, double seconds) {
  Found found;
  for (int i = 0;
       i < Timetable::kRounds && found.problem.empty() && !reached(found.samples, options_.goal);
       ++i)
    visit(crew, point, bytes, seconds / Timetable::kRounds, found);
  return found;
}

std::vector<Point> Campaign::all_points() const {
  std::vector<Point> all = points_;
  all.insert(all.end(), more_points_.begin(), more_points_.end());
  return all;
}

std::vector<Found> Campaign::all_found() const {
  std::vector<Found> all = found_;
  all.insert(all.end(), more_found_.begin(), more_found_.end());
  return all;
}

double Campaign::elapsed() const { return double(now_ns() - start_ns_) * kNano; }

void Campaign::visit(Crew& crew, int point, double seconds) {
  visit(crew, point, points_[size_t(point)].bytes, seconds, found_[size_t(point)]);
}

void Campaign::visit(Crew& crew, int point, int64_t bytes, double seconds, Found& found) {
  // A point whose ranks came late for the clock is not begun by it again.
  const Start start = found.visits > 0 ? found.start : points_[size_t(point)].start;
  keep(found, crew.lead(point, bytes, seconds, start, found));
}

// What the run will take; with `budget_` made large enough, if the user gave none.
Statement Campaign::look_ahead(Crew& crew) {
  constexpr int kVisits = Timetable::kRounds;
  Forecast forecast(points_);
  while (!knows_enough(forecast, budget_, elapsed(), kVisits) && elapsed() < limit_) {
    const auto point = forecast.next();
    if (!point) break;
    const double begin = elapsed();
    visit(crew, *point, Timetable::kShortest);
    forecast.add(*point, elapsed() - begin);
  }
  const double spent = elapsed();
  Statement statement = state(forecast, budget_, spent, kVisits);
  if (options_.budget == 0 && !options_.quick && statement.needed > 0) {
    budget_ = statement.needed;
    statement = state(forecast, budget_, spent, kVisits);
  }
  for (size_t i = 0; i < points_.size(); ++i)
    looked_at_.visited.push_back(char(forecast.looked_at(int(i))));
  if (!points_.empty())
    looked_at_.overrun =
        std::max(statement.one_each / double(points_.size()) - Timetable::kShortest, 0.0);
  statement.seconds = std::min(statement.seconds, limit_);
  return statement;
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
  // What went well before a call failed is no measurement of one that goes well.
  if (!result.problem.empty()) {
    found = {};
    found.problem = result.problem;
    return;
  }
  if (found.visits++ == 0) found.first = result.first;
  found.batch = result.batch;
  // What was begun in another way is another quantity.
  if (found.visits > 1 && found.start != result.start) {
    found.samples = {};
    found.raw.clear();
  }
  found.start = result.start;
  found.window = result.window;
  found.missed += result.missed;
  found.disturbance.follow(result.disturbance);
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
