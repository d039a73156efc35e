#include "measure/points.h"

#include <algorithm>
#include <random>
#include <utility>

namespace haichi::measure {
namespace {

constexpr int64_t kStep = 4;

std::vector<int64_t> sizes_of(const Chosen& chosen, std::span<const int64_t> asked) {
  const Measurement& measurement = *chosen.measurement;
  if (measurement.sizes.to == 0) return {0};
  if (!asked.empty()) return {asked.begin(), asked.end()};
  if (!chosen.sizes.empty()) return chosen.sizes;
  std::vector<int64_t> sizes;
  for (int64_t size = measurement.sizes.from; size <= measurement.sizes.to; size *= kStep)
    sizes.push_back(size);
  return sizes;
}

std::string why_not(const Measurement& measurement, const JobShape& job) {
  const int least = measurement.who == Who::pair ? 2 : measurement.least_ranks;
  if (job.ranks < least)
    return fmt::format("{} needs {} ranks or more, and there {} {}", measurement.name, least,
                       job.ranks == 1 ? "is" : "are", job.ranks);
  if (measurement.even && measurement.who == Who::all && job.ranks % 2 != 0)
    return fmt::format("{} needs an even number of ranks, and there are {}", measurement.name,
                       job.ranks);
  return "";
}

// Caches are emptied between two samples, so cold ones never follow each other.
Start start_of(const Measurement& measurement, Buffers buffers, Spacing spacing, Start together) {
  const bool follow = spacing == Spacing::back_to_back ||
                      (spacing == Spacing::own && measurement.start == Start::back_to_back);
  return follow && buffers == Buffers::hot ? Start::back_to_back : together;
}

// Each way once: isolated is the own way of most measurements.
std::vector<std::pair<Buffers, Start>> ways_of(const Measurement& measurement,
                                               const Variants& variants) {
  std::vector<std::pair<Buffers, Start>> ways;
  for (const Buffers buffers : variants.buffers)
    for (const Spacing spacing : variants.spacings) {
      const std::pair way{buffers, start_of(measurement, buffers, spacing, variants.together)};
      if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
    }
  return ways;
}

}  // namespace

const char* text_of(Buffers buffers) { return buffers == Buffers::hot ? "hot" : "cold"; }

std::string point_key(std::string_view measurement, std::string_view place, int64_t bytes,
                      std::string_view buffers, bool back_to_back) {
  return fmt::format("{}/{}/{}{}{}", measurement, place, bytes, buffers == "cold" ? "/cold" : "",
                     back_to_back ? "/back to back" : "");
}

bool Point::usual() const {
  return buffers == Buffers::hot &&
         (start == Start::back_to_back) == (measurement->start == Start::back_to_back);
}

std::string variant_of(bool cold, bool back_to_back) {
  if (cold) return " cold";
  return back_to_back ? " back to back" : " isolated";
}

std::string Point::variant() const {
  return usual() ? "" : variant_of(buffers == Buffers::cold, start == Start::back_to_back);
}

Plan plan_points(std::span<const Chosen> chosen, const JobShape& job,
                 std::span<const int64_t> sizes, const Variants& variants) {
  Plan plan;
  for (const Chosen& each : chosen) {
    const Measurement& measurement = *each.measurement;
    if (std::string reason = why_not(measurement, job); !reason.empty()) {
      plan.left.push_back({each, std::move(reason)});
      continue;
    }
    for (const auto& [buffers, start] : ways_of(measurement, variants))
      for (const int64_t bytes : sizes_of(each, sizes)) {
        if (bytes > INT32_MAX && !measurement.wide) {
          plan.left.push_back({each, fmt::format("{} takes sizes below 2 GiB", measurement.name)});
          continue;
        }
        if (measurement.who == Who::all)
          plan.points.push_back({&measurement, "all", {}, bytes, buffers, start});
        if (measurement.who == Who::pair)
          for (const Pair& pair : job.pairs)
            plan.points.push_back(
                {&measurement, pair.name, {pair.first, pair.second}, bytes, buffers, start});
      }
  }
  return plan;
}

void shuffle(std::vector<Point>& points, uint64_t seed) {
  std::mt19937_64 random(seed);
  // Not std::shuffle, whose order differs between standard libraries.
  for (size_t i = points.size(); i > 1; --i) std::swap(points[i - 1], points[random() % i]);
}

}  // namespace haichi::measure
