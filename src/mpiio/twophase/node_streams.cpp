#include "mpiio/twophase/node_streams.h"

#include <algorithm>
#include <numeric>

#include "base/rounding.h"

namespace haichi::mpiio {
namespace {

constexpr int64_t kCacheLine = 64;

}  // namespace

NodeStreams::NodeStreams(const placement::Placement& placement, const TwoPhasePlan& plan)
    : placement_(placement),
      plan_(plan),
      by_node_(plan.aggregators.ranks.size()),
      begins_(size_t(placement.nodes()) + 1) {
  const auto node_of = [&](int aggregator) {
    return size_t(placement.node_of(plan.aggregators.ranks[size_t(aggregator)]));
  };
  for (int a = 0; a < int(aggregators()); ++a) ++begins_[node_of(a) + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<size_t> next = begins_;
  for (int a = 0; a < int(aggregators()); ++a) by_node_[next[node_of(a)]++] = a;
  for (int n = 0; n < placement.nodes(); ++n) {
    const bool none = plan.stream_part == 0 || members(n) < 2 || elsewhere(n) == 0;
    most_.push_back(none ? 0
                         : std::min({plan.cb_slot_bytes, plan.stream_part * members(n),
                                     plan.stream_memory * members(n) / (kCycles * elsewhere(n))}));
  }
}

int NodeStreams::speaker(int node, int aggregator) const {
  const auto ranks = placement_.ranks_on(node);
  return ranks[size_t(aggregator) % ranks.size()];
}

int64_t NodeStreams::slot(int node, int64_t cycle, int aggregator) const {
  const auto here = aggregators_on(node);
  const auto before = std::lower_bound(here.begin(), here.end(), aggregator) - here.begin();
  return (cycle % kCycles * elsewhere(node) + aggregator - before) * most(node);
}

int64_t NodeStreams::table_bytes(int node) const {
  const int64_t bytes = plan::NodeTable::bytes_of(kCycles * aggregators(), members(node));
  return divide_up(bytes, kCacheLine) * kCacheLine;
}

int64_t NodeStreams::memory_of(int node) const {
  return from(node) ? table_bytes(node) + kCycles * elsewhere(node) * most(node) : 0;
}

plan::NodeTable NodeStreams::table(int node, std::byte* memory) const {
  return {reinterpret_cast<int32_t*>(memory), members(node)};
}

std::byte* NodeStreams::areas(int node, std::byte* memory) const {
  return memory + table_bytes(node);
}

}  // namespace haichi::mpiio
