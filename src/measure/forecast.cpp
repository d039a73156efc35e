#include "measure/forecast.h"

#include <algorithm>
#include <cmath>

namespace haichi::measure {
namespace {

constexpr int64_t kLarge = 64 << 10;  // bytes from which on they are most of what a visit takes
constexpr int kFewestLooks = 5;       // at a stratum: one that is not counted, four that are
constexpr double kSure = 0.05;        // standard error of what is stated, as a share of it
constexpr double kMostLooks = 0.15;   // share of the run that looks may be
// Standard errors that are stated more: what is over is used, what is missing can't be made up for.
constexpr double kToBeSure = 1.5;

double square(double x) { return x * x; }

}  // namespace

double Forecast::Stratum::mean() const { return counted() > 0 ? sum / counted() : first; }

double Forecast::Stratum::variance() const {
  if (counted() < 2) return square(mean());  // of what is not known: as wide as it is large
  return std::max(squares - square(sum) / counted(), 0.0) / (counted() - 1);
}

Forecast::Forecast(std::span<const Point> points)
    : looked_at_(points.size()), stratum_of_(points.size()) {
  std::map<std::pair<std::string, bool>, int> known;
  for (size_t i = 0; i < points.size(); ++i) {
    const auto [at, is_new] = known.try_emplace(
        {points[i].measurement->group, points[i].bytes >= kLarge}, int(strata_.size()));
    if (is_new) strata_.emplace_back();
    strata_[size_t(at->second)].points.push_back(int(i));
    stratum_of_[i] = at->second;
  }
}

// First all strata as often as they need, in turns, then the one whose next look takes most off the
// variance of the sum.
std::optional<int> Forecast::next() const {
  const Stratum* best = nullptr;
  double most = 0;
  for (const Stratum& each : strata_) {
    if (each.left() == 0) continue;
    const bool due = each.looks < kFewestLooks;
    const double gain = due ? double(INT32_MAX - each.looks)
                            : square(each.left()) * each.variance() /
                                  (double(each.counted()) * (each.counted() + 1));
    if (best != nullptr && gain <= most) continue;
    best = &each;
    most = gain;
  }
  if (best == nullptr) return std::nullopt;
  return best->points[size_t(best->looks)];
}

void Forecast::add(int point, double seconds) {
  Stratum& stratum = strata_[size_t(stratum_of_[size_t(point)])];
  if (stratum.looks++ == 0) {
    stratum.first = seconds;
  } else {
    stratum.sum += seconds;
    stratum.squares += square(seconds);
  }
  looked_at_[size_t(point)] = 1;
  ++looks_;
}

bool Forecast::knows_all() const {
  return std::all_of(strata_.begin(), strata_.end(), [](const Stratum& each) {
    return each.left() == 0 || each.looks >= kFewestLooks;
  });
}

double Forecast::mean_of_all() const {
  double sum = 0;
  for (const Stratum& each : strata_) sum += each.first + each.sum;
  return looks_ > 0 ? sum / looks_ : 0;
}

Expected Forecast::of_points(bool all) const {
  double seconds = 0, variance = 0;
  for (const Stratum& each : strata_) {
    if (all) seconds += each.first + each.sum;
    const double mean = each.looks > 0 ? each.mean() : mean_of_all();
    seconds += each.left() * mean;
    variance += each.looks > 0 ? square(each.left()) * each.variance() / std::max(each.counted(), 1)
                               : square(each.left() * mean);
  }
  return {seconds, std::sqrt(variance)};
}

Expected Forecast::one_visit_each() const { return of_points(true); }
Expected Forecast::rest() const { return of_points(false); }

Statement state(const Forecast& forecast, double budget, double spent, int visits) {
  const double one_each = forecast.one_visit_each().seconds;
  // What has been looked at need not be visited again.
  const Expected rest = forecast.rest();
  Statement statement{.seconds = std::max(budget, spent + rest.seconds + kToBeSure * rest.error),
                      .one_each = one_each};
  if (spent + one_each * visits > budget) statement.needed = spent + one_each * visits;
  return statement;
}

bool knows_enough(const Forecast& forecast, double budget, double spent, int visits) {
  if (!forecast.knows_all()) return false;
  const Expected each = forecast.one_visit_each(), rest = forecast.rest();
  const double whole = spent + rest.seconds;
  // With time for all visits the run takes its budget, whatever they cost.
  const bool ample = spent + visits * (each.seconds + 2 * each.error) < budget;
  return ample || rest.error <= kSure * whole || spent > kMostLooks * whole;
}

}  // namespace haichi::measure
