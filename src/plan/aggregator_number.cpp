#include "plan/aggregator_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/aggregators.h"

namespace haichi::plan {
namespace {

// What must have been said of a machine: a default would be another machine's.
constexpr std::string_view kNeeded[] = {"in_gbs", "out_gbs", "storage_gbs", "servers",
                                        "server_gbs"};
// One aggregator more is not worth this part of itself.
constexpr double kSpare = 0.05;

double bytes_per_second(double gbs) { return gbs * 1e9; }

/// What passes through a node while all nodes have aggregators and ranks.
double rate_of_node(const machine::Machine& machine, int nodes) {
  const double from_others = double(nodes - 1) / nodes;  // of the bytes that a node's ranks have
  const double in = bytes_per_second(machine.in_gbs), out = bytes_per_second(machine.out_gbs);
  if (machine.storage_gbs > 0)
    return std::min(std::min(in, out) / from_others, bytes_per_second(machine.storage_gbs));
  // The bytes go in or out a second time, to the servers or from them.
  return std::min(in, out) / (1 + from_others);
}

}  // namespace

std::optional<AccessRates> access_rates(const machine::Machine& machine, const FileShape& file) {
  if (!std::all_of(std::begin(kNeeded), std::end(kNeeded),
                   [&](std::string_view name) { return machine.tells(name); }) ||
      machine.servers < 1)
    return std::nullopt;
  const double stripe = file.stripe_unit > 0 ? double(file.stripe_unit) : machine.stripe_bytes;
  const double servers = file.stripes > 0 ? file.stripes : machine.servers;
  const double window = double(std::max<int64_t>(1, file.window));
  const double piece = std::min(window, stripe);
  const double pieces = std::ceil(window / stripe);
  // Unless stripes are dealt to aggregators, the next request at a server is another node's.
  const double handover = file.stripes > 0 ? 0 : machine.handover_us;
  const double request_s =
      (machine.request_us + handover) * 1e-6 + piece / bytes_per_second(machine.server_gbs);
  const double port = bytes_per_second(
      machine.storage_gbs > 0 ? machine.storage_gbs : std::min(machine.in_gbs, machine.out_gbs));
  double window_s =
      std::max(std::ceil(pieces / std::min(pieces, servers)) * request_s, window / port);
  if (machine.client_gbs > 0)
    window_s = std::max(window_s, window / bytes_per_second(machine.client_gbs));
  window_s += 2 * machine.latency_ns * 1e-9;
  return AccessRates{window / window_s, servers * piece / request_s};
}

namespace {

/// Of the divisors and multiples of `stripes`, the least from `wanted` on that there are ranks for,
/// else the largest below. `wanted` is from 1 to `ranks`.
int fitting_stripes(int wanted, int stripes, int ranks) {
  if (wanted > stripes)
    return stripes * std::min((wanted + stripes - 1) / stripes, ranks / stripes);
  for (int n = wanted; n <= std::min(stripes, ranks); ++n)
    if (stripes % n == 0) return n;
  int below = wanted;
  while (stripes % below != 0) --below;
  return below;
}

/// As many as `per_node` of each node.
int number_of_each(const placement::Placement& placement, int per_node) {
  int total = 0;
  for (int node = 0; node < placement.nodes(); ++node)
    total += std::min(per_node, int(placement.ranks_on(node).size()));
  return total;
}

}  // namespace

std::optional<NumberOfAggregators> number_by_rates(const machine::Machine& machine,
                                                   const placement::Placement& placement,
                                                   const FileShape& file) {
  const auto rates = access_rates(machine, file);
  if (!rates) return std::nullopt;
  const int nodes = placement.nodes(), ranks = placement.ranks();
  const double node_rate = rate_of_node(machine, nodes);
  const double busy = std::min(nodes * node_rate, rates->storage) / rates->one;
  const int least =
      int(choose_aggregators(placement, Layout::roundrobin, 0, file.stripes).ranks.size());
  const double wanted = std::clamp(std::ceil(busy - kSpare), double(least), double(ranks) * nodes);
  NumberOfAggregators number;
  if (file.stripes > 0) {
    number.total = fitting_stripes(int(std::min(wanted, double(ranks))), file.stripes, ranks);
    number.per_node = (number.total + nodes - 1) / nodes;
    while (number_of_each(placement, number.per_node) < number.total) ++number.per_node;
  } else {
    // Where a node has fewer ranks, more on another one do not help: its port has enough to do.
    number.per_node = int(std::ceil(wanted / nodes));
    number.total = number_of_each(placement, number.per_node);
  }
  number.why = fmt::format(
      "{} aggregator{}: one can access {:.3g} GB/s, what passes through a node is {:.3g}, the "
      "servers take {:.3g} in all, by the machine's profile; cb_nodes not given",
      number.total, number.total == 1 ? "" : "s", rates->one * 1e-9, node_rate * 1e-9,
      rates->storage * 1e-9);
  return number;
}

}  // namespace haichi::plan
