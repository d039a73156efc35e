#include "collectives/traffic.h"

#include <errno.h>

#include <algorithm>
#include <numeric>

namespace haichi::collectives {
namespace {

constexpr int kSample = 24;

}  // namespace

Result<Traffic> Traffic::make(const placement::Placement& placement, const topology::Shape& shape,
                              std::span<const int> seats) {
  const int64_t places = shape.places();
  std::vector<int> in_order;
  if (seats.empty()) {
    in_order.resize(size_t(placement.nodes()));
    std::iota(in_order.begin(), in_order.end(), 0);
    seats = in_order;
  }
  if (seats.size() != size_t(placement.nodes()))
    return fail(EINVAL, "{} seats for {} nodes", seats.size(), placement.nodes());
  for (const int seat : seats)
    if (seat < 0 || seat >= places)
      return fail(EINVAL, "a network of {} places has no place {}", places, seat);
  return Traffic(placement, shape, seats);
}

Traffic::Traffic(const placement::Placement& placement, const topology::Shape& shape,
                 std::span<const int> seats)
    : placement_(&placement), links_(shape, seats) {
  for (int node = 0; node < placement.nodes(); ++node)
    most_on_a_node_ = std::max(most_on_a_node_, int(placement.ranks_on(node).size()));
}

const Load& Traffic::uniform() {
  if (std::exchange(knows_uniform_, true)) return uniform_;
  std::vector<int64_t> ranks;
  for (int node = 0; node < placement_->nodes(); ++node) {
    ranks.push_back(int64_t(placement_->ranks_on(node).size()));
    uniform_.ports =
        std::max(uniform_.ports, double(ranks.back()) * double(placement_->ranks() - ranks.back()));
  }
  uniform_.links = double(links_.uniform(ranks));
  uniform_.hops = steps().hops;
  return uniform_;
}

const Load& Traffic::shift(int distance) {
  const int ranks = placement_->ranks();
  const auto [known, is_new] = shifts_.try_emplace(distance % ranks);
  Load& load = known->second;
  if (!is_new) return load;
  std::vector<topology::Flow> flows;
  std::vector<int> out(size_t(placement_->nodes())), in(out);
  for (int rank = 0; rank < ranks; ++rank) {
    const int from = placement_->node_of(rank), to = placement_->node_of((rank + distance) % ranks);
    if (from == to) continue;
    flows.push_back({from, to, 1});
    load.ports = std::max({load.ports, double(++out[size_t(from)]), double(++in[size_t(to)])});
  }
  const topology::PathLoad path = links_.of(flows);
  load.links = double(path.messages);
  load.hops = double(path.hops);
  return load;
}

const Load& Traffic::steps() {
  if (std::exchange(knows_steps_, true)) return steps_;
  // By the golden ratio: evenly spread, and not in time with the extents of a box.
  const int64_t all = placement_->ranks() - 1, stride = std::max<int64_t>(1, all * 618 / 1000);
  const int64_t sample = std::min<int64_t>(all, kSample);
  for (int64_t k = 0; k < sample; ++k) {
    const Load& step = shift(int(sample == all ? k + 1 : 1 + k * stride % all));
    steps_.ports += step.ports / double(sample);
    steps_.links += step.links / double(sample);
    steps_.hops += step.hops / double(sample);
  }
  return steps_;
}

double Traffic::contention() {
  const double links = uniform().links;
  return links == 0 ? 1 : std::min(1.0, double(placement_->ranks() - 1) / links);
}

}  // namespace haichi::collectives
