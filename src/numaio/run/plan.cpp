// haichi-numaio plan: reads questions from standard input, one JSON object a line, and prints the
// plan of each, one a line. A question is {"numa": member of haichi.machine/2, "loads": [[source,
// target, bytes], ...], "times": N}: nodes, -1 for what follows the thread, -2 for what is spread.
// With "times" the plan is made as often, and the answer says how many microseconds one took.
#include <errno.h>

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.h"
#include "base/json_text.h"
#include "numaio/run/commands.h"
#include "numaio/split.h"

namespace haichi::numaio {
namespace {

using nlohmann::json;

Result<std::vector<Load>> read_loads(const json& value, int nodes) {
  if (!value.is_array() || value.size() > size_t(nodes + 2) * size_t(nodes + 2))
    return fail(EINVAL, "loads takes a list of [source, target, bytes]");
  std::vector<Load> loads;
  for (const json& each : value) {
    const bool triple = each.is_array() && each.size() == 3 && each[2].is_number();
    const auto source = triple ? whole_number(each[0]) : std::nullopt;
    const auto target = triple ? whole_number(each[1]) : std::nullopt;
    if (!source || !target || *source < kSpread || *target < kSpread || *source >= nodes ||
        *target >= nodes || !(each[2].get<double>() >= 0))
      return fail(EINVAL, "loads takes [source, target, bytes] with nodes below {}, not {}", nodes,
                  shown(each));
    loads.push_back({*source, *target, each[2].get<double>()});
  }
  return loads;
}

Result<json> answer(const std::string& line) {
  const auto question = parse_json(line);
  if (!question) return tl::unexpected(question.error());
  if (!question->is_object()) return fail(EINVAL, "not an object: {}", shown(*question));
  auto paths = machine::read_numa(question->value("numa", json()));
  if (!paths) return tl::unexpected(paths.error());
  const auto loads = read_loads(question->value("loads", json()), paths->nodes());
  if (!loads) return tl::unexpected(loads.error());
  const int times = std::max(whole_number(question->value("times", json(1))).value_or(1), 1);
  Splitter splitter(std::move(*paths));
  const int64_t begin = now_ns();
  Split split;
  for (int i = 0; i < times; ++i) split = splitter.plan(*loads);
  const double micros = double(now_ns() - begin) / 1e3 / times;
  json shares = json::array(), routes = json::object();
  for (const Share& each : split.shares) shares.push_back({each.load, each.node, each.bytes});
  for (size_t i = 0; i < split.route_bytes.size(); ++i)
    routes[std::string(machine::kRouteNames[i])] = split.route_bytes[i];
  return json{{"seconds", split.seconds},
              {"threads", split.threads},
              {"shares", shares},
              {"routes", routes},
              {"micros", micros}};
}

}  // namespace

int plan_command(const Words& words) {
  if (!words.empty()) return refuse(kUsage, "plan: takes no words, but questions on its input");
  std::string line;
  for (int number = 1; std::getline(std::cin, line); ++number) {
    const auto made = answer(line);
    if (!made)
      return refuse(kBadInput, fmt::format("plan: line {}: {}", number, made.error().text));
    printf("%s\n", made->dump().c_str());
  }
  return 0;
}

}  // namespace haichi::numaio
