#include "plan/locality.h"

#include <algorithm>
#include <numeric>

namespace haichi::plan {
namespace {

// Differences below this part of a part's bytes do not count: rows that a border happens to cut
// would make neighbouring parts go back and forth.
constexpr int64_t kSlack = 8;
// How far at least and at most, in parts of its even share, a node may be ahead of an equal one to
// go on where it was.
constexpr int64_t kLeastAhead = 32;
constexpr int64_t kMostAhead = 8;

int64_t sum(const std::vector<int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t{0});
}

/// What is lost, in bytes, if the part does not go where most of its bytes are.
int64_t stake(const std::vector<int64_t>& bytes) {
  int64_t best = 0, second = 0;
  for (const int64_t b : bytes) {
    if (b > best) {
      second = best;
      best = b;
    } else {
      second = std::max(second, b);
    }
  }
  return best - second;
}

}  // namespace

NodeWork work_of(const NodeBytes& have, const std::vector<int>& node_of_part) {
  const std::vector<int64_t> none(have.bytes.empty() ? 0 : have.bytes[0].size());
  NodeWork work{none, none, none};
  for (size_t p = 0; p < have.parts.size(); ++p) {
    const size_t at = size_t(node_of_part[p]);
    for (size_t n = 0; n < none.size(); ++n) {
      work.load[at] += have.bytes[p][n];
      if (n == at) continue;
      work.out[n] += have.bytes[p][n];
      work.in[at] += have.bytes[p][n];
    }
  }
  return work;
}

int64_t busiest_link(const NodeBytes& have, const std::vector<int>& node_of_part) {
  const NodeWork work = work_of(have, node_of_part);
  int64_t most = 0;
  for (size_t n = 0; n < work.in.size(); ++n) most = std::max({most, work.in[n], work.out[n]});
  return most;
}

int64_t least_between(const NodeBytes& have) {
  int64_t bytes = 0;
  for (const std::vector<int64_t>& part : have.bytes)
    if (!part.empty()) bytes += sum(part) - *std::max_element(part.begin(), part.end());
  return bytes;
}

std::vector<int> place_by_bytes(const NodeBytes& have, const std::vector<bool>& serves, int64_t run,
                                double most) {
  const size_t parts = have.parts.size(), nodes = serves.size();
  std::vector<int64_t> whole(parts), stakes(parts);
  for (size_t p = 0; p < parts; ++p) {
    whole[p] = sum(have.bytes[p]);
    stakes[p] = stake(have.bytes[p]) / std::max<int64_t>(1, whole[p] / kSlack) * whole[p];
  }
  std::vector<size_t> order(parts);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return stakes[a] > stakes[b]; });
  const int64_t servers = std::count(serves.begin(), serves.end(), true);
  const int64_t all = sum(whole), share = all / servers;
  const int64_t most_bytes = int64_t(std::min(double(all), double(share) * most));
  const int64_t ahead = std::clamp(run, share / kLeastAhead, share / kMostAhead);
  std::vector<int64_t> load(nodes);
  std::vector<int> result(parts, -1);
  for (const size_t p : order) {
    const int before = p > 0 ? result[p - 1] : -1;
    // What a node has handled so far, as far as it counts against it.
    auto burden = [&](size_t n) { return load[n] - (int(n) == before ? ahead : 0); };
    int best = -1;
    bool best_has_room = false;
    for (size_t n = 0; n < nodes; ++n) {
      if (!serves[n]) continue;
      const bool room = load[n] + whole[p] <= most_bytes;
      const auto better = [&] {
        if (best < 0 || room != best_has_room) return best < 0 || room;
        const int64_t more = have.bytes[p][n] - have.bytes[p][size_t(best)];
        if (room && std::abs(more) > whole[p] / kSlack) return more > 0;
        return burden(n) < burden(size_t(best));
      };
      if (!better()) continue;
      best = int(n);
      best_has_room = room;
    }
    result[p] = best;
    load[size_t(best)] += whole[p];
  }
  return result;
}

}  // namespace haichi::plan
