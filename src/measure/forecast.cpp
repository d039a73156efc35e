#include "measure/forecast.h"

#include <algorithm>

namespace haichi::measure {

Forecast::Forecast(std::span<const Point> points) : points_(points) {
  for (size_t i = 0; i < points.size(); ++i)
    if (by_measurement_[points[i].measurement].points++ == 0) candidates_.push_back(int(i));
}

void Forecast::add(int candidate, double seconds) {
  by_measurement_[points_[size_t(candidate)].measurement].seconds = seconds;
}

double Forecast::one_visit_each() const {
  double known = 0;
  int known_points = 0, points = 0;
  for (const auto& [measurement, of] : by_measurement_) {
    points += of.points;
    if (of.seconds < 0) continue;
    known += of.points * of.seconds;
    known_points += of.points;
  }
  return known_points == 0 ? 0 : known * points / known_points;
}

Statement state(const Forecast& forecast, double budget, double spent, int visits) {
  const double one_each = forecast.one_visit_each();
  Statement statement{.seconds = std::max(budget, spent + one_each), .one_each = one_each};
  if (spent + one_each * visits > budget) statement.needed = spent + one_each * visits;
  return statement;
}

}  // namespace haichi::measure
