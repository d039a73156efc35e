#include "machine/numa_paths.h"

#include <errno.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json_text.h"

namespace haichi::machine {
namespace {

using nlohmann::json;

constexpr double kAssumedThreadGbs = 8;
constexpr int kAssumedSaturation = 6;        // threads
constexpr double kAssumedServedShare = 0.4;  // of what those threads move

// `value` as a list of `size` entries, each taken by `read`.
Status each_of(const json& value, size_t size, const std::string& where,
               const std::function<Status(const json&, size_t)>& read) {
  if (!value.is_array() || value.size() != size)
    return fail(EINVAL, "{} takes a list of {}, one for each node", where, size);
  for (size_t i = 0; i < size; ++i)
    if (auto done = read(value[i], i); !done) return done;
  return {};
}

Status read_rate(const json& value, const std::string& where, double& rate) {
  if (!value.is_number() || !(value.get<double>() > 0 && value.get<double>() <= 1e9))
    return fail(EINVAL, "{} takes numbers above 0 up to 1e9, not {}", where, shown(value));
  rate = value.get<double>();
  return {};
}

json member(const json& object, const char* key) {
  return object.contains(key) ? object[key] : json();
}

Result<std::vector<int>> read_cores(const json& value) {
  if (!value.is_array() || value.empty() || value.size() > size_t(kMostNumaNodes))
    return fail(EINVAL, "numa.cores takes a list of 1 to {} numbers", kMostNumaNodes);
  std::vector<int> cores;
  for (const json& each : value) {
    const auto whole = whole_number(each);
    if (!whole || *whole < 0 || *whole > 1 << 16)
      return fail(EINVAL, "numa.cores takes whole numbers from 0, not {}", shown(each));
    cores.push_back(*whole);
  }
  if (std::all_of(cores.begin(), cores.end(), [](int each) { return each == 0; }))
    return fail(EINVAL, "numa.cores: no node has a core");
  return cores;
}

Result<std::vector<int>> read_distances(const json& value, size_t nodes) {
  std::vector<int> distances;
  const auto row = [&](const json& entry, size_t i) {
    return each_of(
        entry, nodes, fmt::format("numa.distance[{}]", i), [&](const json& each, size_t) -> Status {
          const auto whole = whole_number(each);
          if (!whole || *whole < 1 || *whole > 255)
            return fail(EINVAL, "numa.distance takes whole numbers from 1 to 255, not {}",
                        shown(each));
          distances.push_back(*whole);
          return {};
        });
  };
  if (auto done = each_of(value, nodes, "numa.distance", row); !done)
    return tl::unexpected(done.error());
  return distances;
}

// [thread][source][target]
Status read_threads(const json& value, NumaPaths& paths) {
  const auto nodes = size_t(paths.nodes());
  return each_of(value, nodes, "numa.thread_gbs", [&](const json& plane, size_t t) {
    return each_of(plane, nodes, "numa.thread_gbs", [&](const json& row, size_t s) {
      return each_of(row, nodes, "numa.thread_gbs", [&](const json& each, size_t d) -> Status {
        double rate = 0;
        if (auto done = read_rate(each, "numa.thread_gbs", rate); !done) return done;
        paths.set_thread_gbs(int(s), int(t), int(d), rate);
        return {};
      });
    });
  });
}

}  // namespace

NumaPaths::NumaPaths(std::vector<int> cores, std::vector<int> distances)
    : cores_(std::move(cores)),
      distances_(std::move(distances)),
      rates_(cores_.size() * cores_.size() * cores_.size(), 1.0),
      memory_gbs_(cores_.size(), 1.0),
      served_gbs_(cores_.size(), 1.0) {}

NumaPaths assumed_paths(std::vector<int> cores, std::vector<int> distances) {
  NumaPaths made(std::move(cores), std::move(distances));
  const int n = made.nodes();
  for (int t = 0; t < n; ++t)
    for (int s = 0; s < n; ++s)
      for (int d = 0; d < n; ++d) {
        // What is written from afar is slower than what is read from there (paper 003, Fig. 8).
        const double reading = made.distance(t, s) / 10.0;
        const double writing = 1 + 1.5 * (made.distance(t, d) / 10.0 - 1);
        made.set_thread_gbs(s, t, d, kAssumedThreadGbs * 2 / (reading + writing));
      }
  for (int node = 0; node < n; ++node) {
    const int threads = std::min(std::max(made.cores(node), 1), kAssumedSaturation);
    const double moved = kAssumedThreadGbs * threads;
    made.set_memory_gbs(node, 2 * moved);
    made.set_served_gbs(node, kAssumedServedShare * moved);
  }
  return made;
}

Result<NumaPaths> read_numa(const json& object) {
  if (!object.is_object()) return fail(EINVAL, "numa takes an object, not {}", shown(object));
  auto cores = read_cores(member(object, "cores"));
  if (!cores) return tl::unexpected(cores.error());
  const size_t nodes = cores->size();
  auto distances = read_distances(member(object, "distance"), nodes);
  if (!distances) return tl::unexpected(distances.error());
  NumaPaths paths(std::move(*cores), std::move(*distances));
  Status done = read_threads(member(object, "thread_gbs"), paths);
  const std::pair<const char*, void (NumaPaths::*)(int, double)> lists[] = {
      {"memory_gbs", &NumaPaths::set_memory_gbs}, {"served_gbs", &NumaPaths::set_served_gbs}};
  for (const auto& [key, set] : lists) {
    if (!done) break;
    const std::string where = fmt::format("numa.{}", key);
    done = each_of(member(object, key), nodes, where, [&](const json& each, size_t i) -> Status {
      double rate = 0;
      if (auto read = read_rate(each, where, rate); !read) return read;
      (paths.*set)(int(i), rate);
      return {};
    });
  }
  double weight = 1;
  if (done && object.contains("write_weight"))
    done = read_rate(object["write_weight"], "numa.write_weight", weight);
  if (!done) return tl::unexpected(done.error());
  paths.set_write_weight(weight);
  return paths;
}

json numa_json(const NumaPaths& paths) {
  const int n = paths.nodes();
  json cores = json::array(), distance = json::array(), threads = json::array();
  json memory = json::array(), served = json::array();
  for (int t = 0; t < n; ++t) {
    cores.push_back(paths.cores(t));
    memory.push_back(paths.memory_gbs(t));
    served.push_back(paths.served_gbs(t));
    json row = json::array(), plane = json::array();
    for (int s = 0; s < n; ++s) {
      row.push_back(paths.distance(t, s));
      json targets = json::array();
      for (int d = 0; d < n; ++d) targets.push_back(paths.thread_gbs(s, t, d));
      plane.push_back(std::move(targets));
    }
    distance.push_back(std::move(row));
    threads.push_back(std::move(plane));
  }
  return {{"cores", cores},       {"distance", distance}, {"thread_gbs", threads},
          {"memory_gbs", memory}, {"served_gbs", served}, {"write_weight", paths.write_weight()}};
}

}  // namespace haichi::machine
