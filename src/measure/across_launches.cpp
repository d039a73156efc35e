#include "measure/across_launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <vector>

#include "measure/points.h"

namespace haichi::measure {
namespace {

using Json = nlohmann::json;
constexpr double kMicro = 1e6;

using Key = std::tuple<std::string, std::string, int64_t>;  // name, place with the variant, bytes

// With what is not usual about the point.
std::string place_of(const Json& point) {
  const std::string place = point.value("place", "");
  if (point.value("usual", true)) return place;
  return place + variant_of(point.value("buffers", "") == text_of(Buffers::cold),
                            point.value("start", "") == text_of(Start::back_to_back));
}

std::map<Key, std::vector<double>> medians_of(std::string_view samples) {
  std::map<Key, std::vector<double>> medians;
  while (!samples.empty()) {
    const size_t end = samples.find('\n');
    const Json line = Json::parse(samples.substr(0, end), nullptr, false);
    samples.remove_prefix(end == samples.npos ? samples.size() : end + 1);
    // A line that a kill has cut off is none.
    if (!line.is_object() || line.value("kind", "") != "point") continue;
    medians[{line.value("name", ""), place_of(line), line.value("bytes", int64_t{0})}].push_back(
        line.value("median", 0.0));
  }
  for (auto& [key, values] : medians) std::sort(values.begin(), values.end());
  return medians;
}

double middle(const std::vector<double>& sorted) {
  const size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

}  // namespace

std::string table_across_launches(const std::string& samples) {
  std::string text;
  std::string last;
  for (const auto& [key, values] : medians_of(samples)) {
    const auto& [name, place, bytes] = key;
    if (name != last)
      text +=
          fmt::format("\n# {}: medians of launches\n{:>10} {:>8} {:>9} {:>12} {:>12} {:>12}\n",
                      name, "bytes", "place", "launches", "middle us", "least us", "largest us");
    last = name;
    text += fmt::format("{:>10} {:>8} {:>9} {:>12.3f} {:>12.3f} {:>12.3f}\n", bytes, place,
                        values.size(), middle(values) * kMicro, values.front() * kMicro,
                        values.back() * kMicro);
  }
  return text;
}

}  // namespace haichi::measure
