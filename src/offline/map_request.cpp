#include "offline/map_request.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "placement/formats.h"

namespace haichi::offline {
namespace {

using nlohmann::json;

/// All weights of a graph have to fit into an int64_t together.
constexpr int64_t kMostBytes = INT64_MAX / 2;

bool whole(const json& value, int64_t least, int64_t most) {
  return value.is_number_integer() && value.get<int64_t>() >= least && value.get<int64_t>() <= most;
}

Result<std::vector<plan::RankGraph::Edge>> edges_of(const json& list, int ranks) {
  std::vector<plan::RankGraph::Edge> edges;
  if (!list.is_array()) return fail(EINVAL, "edges is not a list of [rank, rank, bytes]");
  int64_t left = kMostBytes;
  for (const json& each : list) {
    if (!each.is_array() || each.size() != 3 || !whole(each[0], 0, ranks - 1) ||
        !whole(each[1], 0, ranks - 1) || !whole(each[2], 0, left))
      return fail(EINVAL, "edge {} is not [rank, rank, bytes] of {} ranks: {}", edges.size(), ranks,
                  each.dump().substr(0, 60));
    edges.push_back({each[0].get<int>(), each[1].get<int>(), each[2].get<int64_t>()});
    left -= edges.back().weight;
  }
  return edges;
}

Result<plan::Grid> grid_of(const json& object, int ranks) {
  const json dims = object.value("dims", json()), periods = object.value("periods", json());
  if (!dims.is_array() || dims.empty() || !periods.is_array() || dims.size() != periods.size())
    return fail(EINVAL, "grid needs dims and periods, as many of each");
  plan::Grid grid;
  int64_t product = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (!whole(dims[d], 1, ranks) || !periods[d].is_boolean())
      return fail(EINVAL, "dimension {} of the grid is no number of ranks and true or false", d);
    grid.extents.push_back(dims[d].get<int>());
    grid.periodic.push_back(periods[d].get<bool>());
    product *= grid.extents.back();
    if (product > ranks) break;
  }
  if (product != ranks) return fail(EINVAL, "the grid is not of {} ranks, as the placement", ranks);
  return grid;
}

}  // namespace

Result<MapRequest> read_map_request(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return fail(EINVAL, "standard input is no JSON object");
  if (!object.contains("placement")) return fail(EINVAL, "there is no placement");
  auto seats = placement::from_json(object["placement"].dump());
  if (!seats) return tl::unexpected(seats.error());
  const int ranks = seats->ranks();
  if (object.contains("grid") == object.contains("edges"))
    return fail(EINVAL, "give either edges or a grid");
  if (object.contains("grid")) {
    if (!object["grid"].is_object()) return fail(EINVAL, "grid is no object");
    auto grid = grid_of(object["grid"], ranks);
    if (!grid) return tl::unexpected(grid.error());
    plan::RankGraph graph = plan::graph_of(*grid);
    return MapRequest{*std::move(seats), std::move(graph), *std::move(grid)};
  }
  const auto edges = edges_of(object["edges"], ranks);
  if (!edges) return tl::unexpected(edges.error());
  return MapRequest{*std::move(seats), plan::RankGraph(ranks, *edges), std::nullopt};
}

}  // namespace haichi::offline
