#include "measure/table.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace haichi::measure {
namespace {

constexpr double kMicro = 1e6;

std::string head_of(const Measurement& measurement) {
  return fmt::format(
      "\n# {}: {}\n# {}; {}\n{:>10} {:>8} {:>12} {:>22} {:>12} {:>12} {:>8} {:>10}\n",
      measurement.name, measurement.timed, measurement.formula(), measurement.sample, "bytes",
      "place", "median us", "95 % interval", "p5", "p95", "samples", "MB/s");
}

std::string row_of(const Point& point, const Histogram& samples) {
  const auto interval = median_interval(samples);
  const double median = samples.quantile(0.5);
  const std::string between =
      interval ? fmt::format("{:.3f} to {:.3f}", interval->low * kMicro, interval->high * kMicro)
               : "too few samples";
  const std::string rate = point.bytes > 0 && median > 0
                               ? fmt::format("{:.1f}", double(point.bytes) / median / 1e6)
                               : "";
  return fmt::format("{:>10} {:>8} {:>12.3f} {:>22} {:>12.3f} {:>12.3f} {:>8} {:>10}\n",
                     point.measurement->sizes.to > 0 ? fmt::format("{}", point.bytes) : "-",
                     point.place + point.variant(), median * kMicro, between,
                     samples.quantile(0.05) * kMicro, samples.quantile(0.95) * kMicro,
                     samples.count(), rate);
}

}  // namespace

std::string table_of(const std::vector<Point>& points, const std::vector<Found>& found) {
  std::vector<size_t> order(points.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto place_in_table = [&](size_t i) {
    const Point& point = points[i];
    return std::tuple(point.measurement, point.place, point.variant(), point.bytes);
  };
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return place_in_table(a) < place_in_table(b); });
  std::string text;
  const Measurement* last = nullptr;
  for (const size_t i : order) {
    if (found[i].samples.count() == 0) continue;
    if (points[i].measurement != last) text += head_of(*points[i].measurement);
    last = points[i].measurement;
    text += row_of(points[i], found[i].samples);
  }
  return text;
}

std::string duration(double seconds) {
  const auto whole = int64_t(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace haichi::measure
