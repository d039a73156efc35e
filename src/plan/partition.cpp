#include "plan/partition.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <set>
#include <utility>

#include "plan/pair_refiner.h"

namespace haichi::plan {
namespace {

/// Numbers at random, the same each time (SplitMix64).
class Draws {
 public:
  int below(int bound) {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return int((z ^ (z >> 31)) % uint64_t(bound));
  }

 private:
  uint64_t state_ = 0;
};

/// Pairs of parts that wait for their turn, each once, first come first served.
class Pairs {
 public:
  Pairs(const RankGraph& graph, const std::vector<int>& part_of)
      : graph_(graph), part_of_(part_of) {}

  /// All that a part with these ranks has an edge to.
  void add_those_of(const std::vector<int>& members) {
    if (members.empty()) return;
    const int part = part_of_[size_t(members[0])];
    std::vector<int> others;
    for (const int rank : members)
      for (const auto& each : graph_.of(rank))
        if (const int other = part_of_[size_t(each.rank)];
            other != part && (others.empty() || others.back() != other))
          others.push_back(other);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (const int other : others) {
      const std::pair pair(std::min(part, other), std::max(part, other));
      if (waiting_.insert(pair).second) queue_.push_back(pair);
    }
  }
  bool empty() const { return queue_.empty(); }
  std::pair<int, int> take() {
    const auto pair = queue_.front();
    queue_.pop_front();
    waiting_.erase(pair);
    return pair;
  }

 private:
  const RankGraph& graph_;
  const std::vector<int>& part_of_;
  std::deque<std::pair<int, int>> queue_;
  std::set<std::pair<int, int>> waiting_;
};

/// The bisection of one set of ranks after the other. Parts that are not divided yet have the
/// number of their first one.
class Bisection {
 public:
  Bisection(const RankGraph& graph, std::span<const int> sizes, Effort& effort)
      : graph_(graph),
        sizes_(sizes),
        effort_(effort),
        part_of_(size_t(graph.ranks())),
        link_(part_of_.size()),
        refiner_(graph, part_of_, effort) {}

  std::vector<int> divide() {
    std::vector<int> all(part_of_.size());
    std::iota(all.begin(), all.end(), 0);
    divide(std::move(all), 0, int(sizes_.size()));
    return std::move(part_of_);
  }

 private:
  void divide(std::vector<int> ranks, int begin, int end) {
    if (end - begin < 2) return;
    const int middle = halfway(begin, end);
    size_t left = 0;
    for (int p = begin; p < middle; ++p) left += size_t(sizes_[size_t(p)]);
    std::sort(ranks.begin(), ranks.end());
    std::vector<int> best;
    int64_t least = INT64_MAX;
    for (const std::vector<int>& start : starts(ranks, begin, left)) {
      std::vector<int> a, b;
      for (const int rank : ranks) part_of_[size_t(rank)] = middle;
      for (const int rank : start) part_of_[size_t(rank)] = begin;
      for (const int rank : ranks) (part_of_[size_t(rank)] == begin ? a : b).push_back(rank);
      refiner_.refine(a, b);
      if (const int64_t cut = cut_between(a, middle); cut < least) {
        least = cut;
        best = std::move(a);
      }
    }
    for (const int rank : ranks) part_of_[size_t(rank)] = middle;
    for (const int rank : best) part_of_[size_t(rank)] = begin;
    std::vector<int> rest;
    for (const int rank : ranks)
      if (part_of_[size_t(rank)] == middle) rest.push_back(rank);
    divide(std::move(best), begin, middle);
    divide(std::move(rest), middle, end);
  }

  /// The first part of the second half, so that both halves have about as many ranks.
  int halfway(int begin, int end) const {
    const auto first = sizes_.begin();
    const int64_t all = std::accumulate(first + begin, first + end, int64_t{0});
    int64_t before = 0;
    int middle = begin;
    while (middle + 1 < end && 2 * before + sizes_[size_t(middle)] <= all)
      before += sizes_[size_t(middle++)];
    return std::max(middle, begin + 1);
  }

  /// First halves to begin with: as numbered, and grown from two ends.
  std::vector<std::vector<int>> starts(const std::vector<int>& ranks, int label, size_t left) {
    for (const int rank : ranks) part_of_[size_t(rank)] = label;
    std::vector<std::vector<int>> found = {{ranks.begin(), ranks.begin() + std::ptrdiff_t(left)}};
    if (left == 0 || left == ranks.size() || effort_.spent()) return found;
    const int rim = grown(ranks[0], ranks, label, ranks.size()).back();
    found.push_back(grown(rim, ranks, label, left));
    const int opposite = grown(rim, ranks, label, ranks.size()).back();
    if (opposite != rim) found.push_back(grown(opposite, ranks, label, left));
    return found;
  }

  /// So many ranks, each the one that the ones before have most in common with, less what it has
  /// with the rest; where there is no neighbour any more, the next as numbered.
  std::vector<int> grown(int seed, const std::vector<int>& ranks, int label, size_t count) {
    struct Entry {
      int64_t value;
      int64_t turn;  // the earlier first
      int rank;
      bool operator<(const Entry& other) const {
        return value != other.value ? value < other.value : turn > other.turn;
      }
    };
    constexpr int64_t kTaken = INT64_MAX, kUnseen = INT64_MIN;
    for (const int rank : ranks) link_[size_t(rank)] = kUnseen;
    std::vector<int> taken;
    std::vector<Entry> heap = {{0, 0, seed}};
    link_[size_t(seed)] = 0;
    size_t next = 0;
    int64_t turn = 0;
    while (taken.size() < count) {
      while (heap.empty()) {
        const int rank = ranks[next++];
        if (link_[size_t(rank)] == kTaken) continue;
        link_[size_t(rank)] = 0;
        heap.push_back({0, ++turn, rank});
      }
      std::pop_heap(heap.begin(), heap.end());
      const Entry entry = heap.back();
      heap.pop_back();
      int64_t& own = link_[size_t(entry.rank)];
      if (own == kTaken || own != entry.value) continue;
      own = kTaken;
      taken.push_back(entry.rank);
      effort_.left -= int64_t(graph_.of(entry.rank).size()) + 1;
      for (const auto& each : graph_.of(entry.rank)) {
        int64_t& link = link_[size_t(each.rank)];
        if (part_of_[size_t(each.rank)] != label || link == kTaken) continue;
        if (link == kUnseen) link = -weight_within(each.rank, label);
        link += 2 * each.weight;
        heap.push_back({link, ++turn, each.rank});
        std::push_heap(heap.begin(), heap.end());
      }
    }
    return taken;
  }

  int64_t weight_within(int rank, int label) {
    int64_t sum = 0;
    for (const auto& each : graph_.of(rank))
      if (part_of_[size_t(each.rank)] == label) sum += each.weight;
    effort_.left -= int64_t(graph_.of(rank).size());
    return sum;
  }

  int64_t cut_between(const std::vector<int>& ranks, int other) {
    int64_t sum = 0;
    for (const int rank : ranks) sum += weight_within(rank, other);
    return sum;
  }

  const RankGraph& graph_;
  const std::span<const int> sizes_;
  Effort& effort_;
  std::vector<int> part_of_;
  std::vector<int64_t> link_;  // of grown()
  PairRefiner refiner_;
};

}  // namespace

std::vector<std::vector<int>> members_of(int parts, std::span<const int> part_of) {
  std::vector<std::vector<int>> members(static_cast<size_t>(parts));
  for (size_t r = 0; r < part_of.size(); ++r) members[size_t(part_of[r])].push_back(int(r));
  return members;
}

int64_t weight_between(const RankGraph& graph, std::span<const int> part_of) {
  int64_t sum = 0;
  for (int rank = 0; rank < graph.ranks(); ++rank)
    for (const auto& each : graph.of(rank))
      if (each.rank > rank && part_of[size_t(each.rank)] != part_of[size_t(rank)])
        sum += each.weight;
  return sum;
}

void refine_parts(const RankGraph& graph, int parts, std::vector<int>& part_of, Effort& effort) {
  auto members = members_of(parts, part_of);
  PairRefiner refiner(graph, part_of, effort);
  Pairs pairs(graph, part_of);
  for (const std::vector<int>& each : members) pairs.add_those_of(each);
  while (!pairs.empty() && !effort.spent()) {
    const auto [a, b] = pairs.take();
    if (refiner.refine(members[size_t(a)], members[size_t(b)]) == 0) continue;
    pairs.add_those_of(members[size_t(a)]);
    pairs.add_those_of(members[size_t(b)]);
  }
}

std::vector<int> bisect(const RankGraph& graph, std::span<const int> sizes, Effort& effort) {
  return Bisection(graph, sizes, effort).divide();
}

void shake_parts(const RankGraph& graph, int parts, std::vector<int>& part_of, int rounds,
                 Effort& effort) {
  const int ranks = graph.ranks();
  if (parts < 2 || ranks < 2) return;
  Draws draws;
  int64_t least = weight_between(graph, part_of);
  for (int round = 0; round < rounds && least > 0 && !effort.spent(); ++round) {
    std::vector<int> tried = part_of;
    for (int swaps = 1 + draws.below(std::min(ranks, 8)); swaps > 0; --swaps)
      std::swap(tried[size_t(draws.below(ranks))], tried[size_t(draws.below(ranks))]);
    refine_parts(graph, parts, tried, effort);
    const int64_t cut = weight_between(graph, tried);
    effort.left -= graph.ends();
    if (cut > least) continue;
    least = cut;
    part_of = std::move(tried);
  }
}

}  // namespace haichi::plan
