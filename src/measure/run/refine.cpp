#include "measure/run/refine.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace haichi::measure {
namespace {

constexpr double kManyInterrupted = 0.25;  // of the samples
constexpr size_t kFewest = 3;              // points that a curve has

// Where ranks lost their cores in many samples, chance says whether the median is one of these, and
// its interval is nothing to go by.
Known known(int64_t bytes, const Found& found) {
  const double median = found.samples.quantile(0.5);
  if (found.disturbance.switches > kManyInterrupted * double(found.samples.count()))
    return {bytes, median, found.samples.quantile(0.05), found.samples.quantile(0.95)};
  const auto interval = median_interval(found.samples);
  return {bytes, median, interval ? interval->low : median, interval ? interval->high : median};
}

Point with_size(Point point, int64_t bytes) {
  point.bytes = bytes;
  return point;
}

}  // namespace

std::vector<std::vector<int>> curves_of(const std::vector<Point>& points,
                                        const std::vector<Found>& found) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<int>> by_name;
  for (size_t i = 0; i < points.size(); ++i)
    if (found[i].samples.count() > 0 && points[i].measurement->sizes.to > 0)
      by_name[{points[i].measurement->name, points[i].place, points[i].variant()}].push_back(
          int(i));
  std::vector<std::vector<int>> curves;
  for (auto& [name, curve] : by_name) {
    std::sort(curve.begin(), curve.end(),
              [&](int a, int b) { return points[size_t(a)].bytes < points[size_t(b)].bytes; });
    if (curve.size() >= kFewest) curves.push_back(std::move(curve));
  }
  return curves;
}

Status refine_curve(const std::vector<int>& curve, const std::vector<Point>& points,
                    const std::vector<Found>& found, const RefineGoal& goal,
                    const RefineCalls& calls) {
  std::vector<Known> measured;
  for (const int i : curve) measured.push_back(known(points[size_t(i)].bytes, found[size_t(i)]));
  const int at = curve.front();
  const Point& point = points[size_t(at)];
  Status status;
  const auto look = [&](int64_t bytes, const char* role) -> std::optional<Known> {
    if (!status || calls.over()) return std::nullopt;
    const Found more = calls.measure(at, bytes);
    if (more.samples.count() == 0) return std::nullopt;
    status = calls.keep(with_size(point, bytes), more, role);
    return known(bytes, more);
  };
  if (goal.switches) {
    const auto switches = find_switches(measured, kMostOfACurve,
                                        [&](int64_t bytes) { return look(bytes, "switch"); });
    for (const Switch& each : switches)
      if (status) status = calls.keep_switch(point, each);
  }
  Refinement refinement(measured, goal.within, goal.refine ? kMostOfACurve : 0);
  while (const auto size = refinement.next()) {
    const auto more = look(*size, "refined");
    if (!more) break;
    refinement.add(*more);
  }
  return status;
}

}  // namespace haichi::measure
