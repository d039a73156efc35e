// haichi map: which rank belongs on which seat, by plan/mapping.h. `haichi advise` and
// `haichi figures mapping` call it.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "offline/commands.h"
#include "offline/map_request.h"
#include "plan/mapping.h"

namespace haichi::offline {
namespace {

nlohmann::ordered_json as_json(const plan::MappingCost& cost) {
  return {{"between_nodes", cost.between_nodes},
          {"busiest_node", cost.busiest_node},
          {"between_numa", cost.between_numa}};
}

}  // namespace

int map_command(const Arguments& arguments) {
  if (!arguments.empty())
    return refuse(kUsage, "map: takes no words; what is to be mapped comes on standard input");
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto request = read_map_request(text);
  if (!request) return refuse(kConfig, "map: " + request.error().text);
  const int64_t start = now_ns();
  const plan::Mapping mapping = plan::map_ranks(request->graph, request->seats, request->grid);
  const nlohmann::ordered_json answer = {{"seats", mapping.seat_of},
                                         {"given", as_json(mapping.given)},
                                         {"mapped", as_json(mapping.cost)},
                                         {"seconds", double(now_ns() - start) * 1e-9}};
  const std::string line = answer.dump() + "\n";
  return fwrite(line.data(), 1, line.size(), stdout) == line.size() ? 0 : 1;
}

}  // namespace haichi::offline
