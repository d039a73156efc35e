#include "sim/seating.h"

#include <string>
#include <utility>
#include <vector>

#include "topology/seats.h"
#include "topology/shape.h"

namespace haichi::sim {

Status seat_nodes(machine::Machine& machine, const placement::Placement& placement) {
  if (!machine.seats.empty()) return {};
  std::vector<std::string> addresses;
  for (int node = 0; node < placement.nodes(); ++node) {
    addresses.push_back(placement.node_address(node));
    if (addresses.back().empty()) return {};
  }
  const auto shape = topology::parse_shape(machine.network);
  if (!shape) return tl::unexpected(shape.error());
  if (shape->kind == topology::Shape::Kind::crossbar) return {};  // where all places are alike
  auto seats = topology::seats_of(*shape, addresses);
  if (!seats) return tl::unexpected(seats.error());
  machine.seats = *std::move(seats);
  return {};
}

}  // namespace haichi::sim
