#include "plan/pair_refiner.h"

#include <algorithm>

namespace haichi::plan {
namespace {

// Swaps behind the best so far after which a pass ends, at least, and as a part of the smaller
// side.
constexpr size_t kPatience = 48;
constexpr size_t kPatiencePart = 16;

}  // namespace

PairRefiner::PairRefiner(const RankGraph& graph, std::vector<int>& part_of, Effort& effort)
    : graph_(graph),
      part_of_(part_of),
      effort_(effort),
      gain_(size_t(graph.ranks())),
      moved_(size_t(graph.ranks())) {}

int64_t PairRefiner::refine(std::vector<int>& a, std::vector<int>& b) {
  if (a.empty() || b.empty()) return 0;
  const int part = part_of_[size_t(a[0])];
  int64_t total = 0;
  // Each side begins until neither gains anything.
  for (int without = 0; without < 2 && !effort_.spent();) {
    const int64_t gained = without ? pass(b, a) : pass(a, b);
    total += gained;
    without = gained ? 0 : without + 1;
    if (!gained) continue;
    std::vector<int> all(a);
    all.insert(all.end(), b.begin(), b.end());
    const auto middle =
        std::partition(all.begin(), all.end(), [&](int r) { return part_of_[size_t(r)] == part; });
    a.assign(all.begin(), middle);
    b.assign(middle, all.end());
  }
  return total;
}

int64_t PairRefiner::pass(const std::vector<int>& first, const std::vector<int>& second) {
  const int from = part_of_[size_t(first[0])], to = part_of_[size_t(second[0])];
  fill(first, from, to, heaps_[0]);
  fill(second, to, from, heaps_[1]);
  const size_t most = std::min(first.size(), second.size());
  const size_t patience = std::max(kPatience, most / kPatiencePart);
  int64_t gained = 0, best = 0;
  size_t swaps = 0, kept = 0;
  swapped_.clear();
  while (swaps < most && swaps - kept < patience && !effort_.spent()) {
    const int there = best_of(heaps_[0]);
    gained += gain_[size_t(there)];
    move(there, from, to, &heaps_[0], &heaps_[1]);
    const int back = best_of(heaps_[1]);
    gained += gain_[size_t(back)];
    move(back, to, from, &heaps_[1], &heaps_[0]);
    swapped_.insert(swapped_.end(), {there, back});
    ++swaps;
    if (gained > best) {
      best = gained;
      kept = swaps;
    }
  }
  for (size_t i = 2 * kept; i < swapped_.size(); ++i)
    part_of_[size_t(swapped_[i])] = i % 2 ? to : from;
  for (const int rank : swapped_) moved_[size_t(rank)] = false;
  return best;
}

void PairRefiner::fill(const std::vector<int>& ranks, int own, int other, Heap& heap) {
  heap.clear();
  for (const int rank : ranks) {
    int64_t gain = 0;
    const auto neighbours = graph_.of(rank);
    for (const auto& each : neighbours) {
      const int part = part_of_[size_t(each.rank)];
      if (part == own) gain -= each.weight;
      if (part == other) gain += each.weight;
    }
    effort_.left -= int64_t(neighbours.size()) + 1;
    gain_[size_t(rank)] = gain;
    heap.push_back({gain, rank});
  }
  std::make_heap(heap.begin(), heap.end());
}

/// There is one: each rank that may move has an entry with its gain.
int PairRefiner::best_of(Heap& heap) {
  while (true) {
    std::pop_heap(heap.begin(), heap.end());
    const Entry entry = heap.back();
    heap.pop_back();
    if (!moved_[size_t(entry.rank)] && gain_[size_t(entry.rank)] == entry.gain) return entry.rank;
  }
}

/// `stays` is the heap of those that the rank leaves, `other` of those it comes to.
void PairRefiner::move(int rank, int from, int to, Heap* stays, Heap* other) {
  moved_[size_t(rank)] = true;
  part_of_[size_t(rank)] = to;
  const auto neighbours = graph_.of(rank);
  effort_.left -= int64_t(neighbours.size()) + 1;
  for (const auto& each : neighbours) {
    const int part = part_of_[size_t(each.rank)];
    if ((part != from && part != to) || moved_[size_t(each.rank)]) continue;
    gain_[size_t(each.rank)] += part == from ? 2 * each.weight : -2 * each.weight;
    Heap& heap = part == from ? *stays : *other;
    heap.push_back({gain_[size_t(each.rank)], each.rank});
    std::push_heap(heap.begin(), heap.end());
  }
}

}  // namespace haichi::plan
