#include "mpiio/node_streams.h"

#include <algorithm>

namespace haichi::mpiio {
namespace {

constexpr int64_t kAreas = 3;
constexpr int64_t kRows = 4;
constexpr int64_t kCacheLine = 64;

int64_t members(const placement::Placement& placement, int node) {
  return int64_t(placement.ranks_on(node).size());
}

int64_t most_of(const placement::Placement& placement, const TwoPhasePlan& plan, int node,
                int64_t aggregators_elsewhere) {
  const int64_t ranks = members(placement, node);
  if (ranks < 2 || aggregators_elsewhere == 0) return 0;
  return std::min({plan.window_bytes, plan.stream_part * ranks,
                   plan.stream_memory * ranks / (kAreas * aggregators_elsewhere)});
}

int64_t table_bytes(const placement::Placement& placement, const TwoPhasePlan& plan, int node) {
  const int64_t entries = kRows * int64_t(plan.aggregators.ranks.size()) * members(placement, node);
  const int64_t bytes = entries * int64_t(sizeof(int32_t));
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}

}  // namespace

int64_t NodeStreams::memory_of(const placement::Placement& placement, const TwoPhasePlan& plan,
                               int node) {
  if (plan.stream_part == 0) return 0;
  const std::vector<int>& all = plan.aggregators.ranks;
  const auto elsewhere =
      std::count_if(all.begin(), all.end(), [&](int a) { return placement.node_of(a) != node; });
  const int64_t most = most_of(placement, plan, node, elsewhere);
  return most == 0 ? 0 : table_bytes(placement, plan, node) + kAreas * elsewhere * most;
}

NodeStreams::NodeStreams(const placement::Placement& placement, const TwoPhasePlan& plan, int rank,
                         std::byte* memory)
    : placement_(placement), plan_(plan), rank_(rank), node_(placement.node_of(rank)) {
  std::vector<int64_t> aggregators(size_t(placement.nodes()));
  for (const int a : plan.aggregators.ranks) {
    ++aggregators[size_t(placement.node_of(a))];
    slots_.push_back(placement.node_of(a) == node_ ? -1 : slots_used_++);
  }
  for (int n = 0; n < placement.nodes(); ++n)
    most_.push_back(most_of(placement, plan, n, int64_t(slots_.size()) - aggregators[size_t(n)]));
  if (!from(node_)) return;
  table_ = reinterpret_cast<int32_t*>(memory);
  areas_ = memory + table_bytes(placement, plan, node_);
}

int NodeStreams::speaker(int node, int aggregator) const {
  const auto ranks = placement_.ranks_on(node);
  return ranks[size_t(aggregator) % ranks.size()];
}

int32_t* NodeStreams::row(int64_t cycle, int aggregator) const {
  const int64_t rows = cycle % kRows * int64_t(slots_.size()) + aggregator;
  return table_ + rows * members(placement_, node_);
}

void NodeStreams::publish(int64_t cycle, int aggregator, int64_t bytes) {
  row(cycle, aggregator)[placement_.local_index(rank_)] = int32_t(bytes);
}

NodeStreams::Stream NodeStreams::stream(int64_t cycle, int aggregator) const {
  const int32_t* const sizes = row(cycle, aggregator);
  const int64_t mine = placement_.local_index(rank_), ranks = members(placement_, node_);
  Stream stream;
  for (int64_t i = 0; i < ranks; ++i) {
    if (i == mine) stream.before = stream.bytes;
    stream.bytes += sizes[i];
  }
  stream.slot = (cycle % kAreas * slots_used_ + slots_[size_t(aggregator)]) * most(node_);
  return stream;
}

}  // namespace haichi::mpiio
