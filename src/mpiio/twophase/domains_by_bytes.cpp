#include "mpiio/twophase/domains_by_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "mpiio/twophase/occupied.h"
#include "mpiio/twophase/units.h"
#include "plan/locality.h"

namespace haichi::mpiio {
namespace {

using plan::Extent;

// With more ranks, all of them would decode and count the others' accesses for too long.
constexpr int kMostRanks = 1024;
// Windows that are smaller than this in the mean cost more in cycles than they save in bytes.
constexpr int64_t kLeastMeanWindow = 32 << 10;
// What of the busiest link's bytes must be saved: even domains have larger windows.
constexpr double kWorth = 0.9;

/// Bytes of the demand below a file offset.
int64_t bytes_below(const RankDemand& demand, int64_t offset) {
  if (demand.access) return demand.access->position_of(offset) - demand.access->begin();
  const int64_t inside = std::clamp(offset, demand.hull.begin, demand.hull.end);
  return int64_t(double(demand.bytes) * double(inside - demand.hull.begin) /
                 double(demand.hull.size()));
}

std::vector<Extent> units_between(const std::vector<int64_t>& borders) {
  std::vector<Extent> units;
  for (size_t i = 0; i + 1 < borders.size(); ++i) units.push_back({borders[i], borders[i + 1]});
  return units;
}

plan::NodeBytes count_bytes(const placement::Placement& placement,
                            const std::vector<RankDemand>& demands, std::vector<Extent> units) {
  plan::NodeBytes have{std::move(units), {}};
  have.bytes.assign(have.parts.size(), std::vector<int64_t>(size_t(placement.nodes())));
  for (int rank = 0; rank < placement.ranks(); ++rank) {
    const RankDemand& demand = demands[size_t(rank)];
    if (demand.hull.empty()) continue;
    const size_t node = size_t(placement.node_of(rank));
    const auto first =
        std::upper_bound(have.parts.begin(), have.parts.end(), demand.hull.begin,
                         [](int64_t at, const Extent& unit) { return at < unit.end; });
    // There are no bytes between units.
    int64_t before = 0;
    for (size_t p = size_t(first - have.parts.begin()); p < have.parts.size(); ++p) {
      if (have.parts[p].begin >= demand.hull.end) break;
      const int64_t below = bytes_below(demand, have.parts[p].end);
      have.bytes[p][node] += below - before;
      before = below;
    }
  }
  return have;
}

/// What the busiest link carries with the plan's own domains, about: a unit counts as handled where
/// its first byte is.
std::vector<int> nodes_of_domains(const placement::Placement& placement, const TwoPhasePlan& plan,
                                  const plan::NodeBytes& have) {
  std::vector<int> nodes;
  int a = 0;
  for (const Extent& part : have.parts) {
    while (a + 1 < plan.domains.aggregators() && plan.domains.hull(a).end <= part.begin) ++a;
    nodes.push_back(placement.node_of(plan.aggregators.ranks[size_t(a)]));
  }
  return nodes;
}

/// Bytes of the ranks in the part, or of the file if `of_file`.
int64_t weight_of(const plan::NodeBytes& have, size_t part, bool of_file) {
  if (of_file) return have.parts[part].size();
  return std::accumulate(have.bytes[part].begin(), have.bytes[part].end(), int64_t{0});
}

/// The parts of each aggregator: those of its node, shared out evenly and in order among the node's
/// aggregators, by their bytes of the file or by those of the ranks; neighbours are one part.
std::vector<std::vector<Extent>> deal(const placement::Placement& placement,
                                      const std::vector<int>& aggregators,
                                      const plan::NodeBytes& have,
                                      const std::vector<int>& node_of_part, bool of_file) {
  std::vector<std::vector<size_t>> on_node(size_t(placement.nodes()));
  for (size_t a = 0; a < aggregators.size(); ++a)
    on_node[size_t(placement.node_of(aggregators[a]))].push_back(a);
  std::vector<int64_t> total(on_node.size()), dealt(on_node.size());
  for (size_t p = 0; p < have.parts.size(); ++p)
    total[size_t(node_of_part[p])] += weight_of(have, p, of_file);
  std::vector<std::vector<Extent>> result(aggregators.size());
  for (size_t p = 0; p < have.parts.size(); ++p) {
    const size_t node = size_t(node_of_part[p]);
    const double share = double(dealt[node]) / double(std::max<int64_t>(1, total[node]));
    const auto& mine = on_node[node];
    auto& list = result[mine[std::min(mine.size() - 1, size_t(share * double(mine.size())))]];
    dealt[node] += weight_of(have, p, of_file);
    if (!list.empty() && list.back().end == have.parts[p].begin)
      list.back().end = have.parts[p].end;
    else
      list.push_back(have.parts[p]);
  }
  return result;
}

/// Bytes of the file that the aggregator with most of them has.
int64_t longest_domain(const std::vector<std::vector<Extent>>& parts) {
  int64_t longest = 0;
  for (const auto& list : parts) longest = std::max(longest, size_of(list));
  return longest;
}

/// What is known of them; measured costs before those that a profile tells.
std::optional<plan::ByteCosts> costs_of(const TwoPhaseOptions& options, int64_t window) {
  if (options.balanced) return std::nullopt;
  if (options.costs) return options.costs;
  if (!options.machine) return std::nullopt;
  return plan::byte_costs(*options.machine, {window, options.stripe_unit, options.stripes});
}

std::string text_of(const plan::ByteCosts& costs) {
  return fmt::format("as a byte takes {:.3g} ns on a link and {:.3g} at an aggregator's file {}",
                     costs.link, costs.file, costs.from);
}

}  // namespace

bool may_go_by_bytes(const placement::Placement& placement, const TwoPhaseOptions& options) {
  return options.keep_local && options.stripe_unit == 0 && placement.nodes() > 1 &&
         placement.ranks() <= kMostRanks;
}

std::optional<LocalDomains> domains_by_bytes(const placement::Placement& placement,
                                             const TwoPhaseOptions& options,
                                             const TwoPhasePlan& plan, const Extent& range,
                                             const std::vector<RankDemand>& demands,
                                             const std::vector<Extent>& parts) {
  if (range.empty()) return std::nullopt;
  const plan::NodeBytes have = count_bytes(
      placement, demands,
      parts.empty() ? units_between(borders_of_units(range, demands)) : units_of_parts(parts));
  std::vector<int> aggregators(size_t(placement.nodes()));
  for (const int rank : plan.aggregators.ranks) ++aggregators[size_t(placement.node_of(rank))];
  const auto costs = costs_of(options, plan.cb_slot_bytes);
  const plan::PlacedParts placed =
      plan::place_by_cost(have, aggregators, plan.cb_slot_bytes, costs);
  const std::vector<int> even_nodes = nodes_of_domains(placement, plan, have);
  const int64_t even = plan::busiest_link(have, even_nodes);
  const int64_t local = plan::busiest_link(have, placed.nodes);
  const auto keep_even = [&](std::string why) {
    return LocalDomains{{},
                        fmt::format("the busiest link carries {} bytes; it would carry {} with "
                                    "domains where their bytes are{}",
                                    even, local, why),
                        plan::least_between(have),
                        even,
                        plan::busiest_aggregator(have, even_nodes, aggregators)};
  };
  if (double(local) > kWorth * double(even)) return keep_even("");
  if (costs && kWorth * plan::handling_ns(have, placed.nodes, aggregators, *costs) >
                   plan::handling_ns(have, even_nodes, aggregators, *costs))
    return keep_even(", and take longer, " + text_of(*costs));
  auto dealt = deal(placement, plan.aggregators.ranks, have, placed.nodes, parts.empty());
  if (!parts.empty())
    for (auto& list : dealt) list = common_parts(list, parts);
  const int64_t longest = longest_domain(dealt);
  const plan::FileDomains domains = parts.empty()
                                        ? plan::FileDomains(dealt, plan.cb_slot_bytes)
                                        : plan::FileDomains::packed(dealt, plan.cb_slot_bytes);
  const int64_t window = longest / std::max<int64_t>(1, domains.cycles());
  if (domains.cycles() > 4 * plan.domains.cycles() && window < kLeastMeanWindow)
    return keep_even(fmt::format(", but in windows of {} bytes", window));
  std::string why = fmt::format(
      "domains go to the nodes that have their bytes: the busiest link carries {} bytes instead of "
      "{}",
      local, even);
  if (placed.share != plan::kUsualShare)
    why += fmt::format("; a node may handle {:.3g} times its share, {}", placed.share,
                       text_of(*costs));
  return LocalDomains{domains, std::move(why), plan::least_between(have), local,
                      plan::busiest_aggregator(have, placed.nodes, aggregators)};
}

}  // namespace haichi::mpiio
