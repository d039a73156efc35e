#include "plan/rank_graph.h"

#include <algorithm>

namespace haichi::plan {

RankGraph::RankGraph(int ranks, std::span<const Edge> edges) : begin_(size_t(ranks) + 1) {
  const auto counts = [](const Edge& edge) { return edge.a != edge.b && edge.weight > 0; };
  for (const Edge& edge : edges)
    if (counts(edge)) {
      ++begin_[size_t(edge.a) + 1];
      ++begin_[size_t(edge.b) + 1];
    }
  for (size_t r = 1; r < begin_.size(); ++r) begin_[r] += begin_[r - 1];
  neighbours_.resize(begin_.back());
  std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
  for (const Edge& edge : edges)
    if (counts(edge)) {
      neighbours_[next[size_t(edge.a)]++] = {edge.b, edge.weight};
      neighbours_[next[size_t(edge.b)]++] = {edge.a, edge.weight};
    }
  // Repeated ones are joined where they stand, and what follows moves up.
  size_t kept = 0;
  for (size_t r = 0; r + 1 < begin_.size(); ++r) {
    const auto first = neighbours_.begin() + std::ptrdiff_t(begin_[r]);
    const auto last = neighbours_.begin() + std::ptrdiff_t(begin_[r + 1]);
    std::sort(first, last, [](const Neighbour& x, const Neighbour& y) { return x.rank < y.rank; });
    begin_[r] = kept;
    for (auto each = first; each != last; ++each)
      if (kept > begin_[r] && neighbours_[kept - 1].rank == each->rank)
        neighbours_[kept - 1].weight += each->weight;
      else
        neighbours_[kept++] = *each;
  }
  begin_.back() = kept;
  neighbours_.resize(kept);
}

RankGraph RankGraph::among(std::span<const int> ranks) const {
  std::vector<Edge> edges;
  for (size_t i = 0; i < ranks.size(); ++i)
    for (const Neighbour& each : of(ranks[i])) {
      if (each.rank < ranks[i]) continue;
      const auto found = std::lower_bound(ranks.begin(), ranks.end(), each.rank);
      if (found != ranks.end() && *found == each.rank)
        edges.push_back({int(i), int(found - ranks.begin()), each.weight});
    }
  return RankGraph(int(ranks.size()), edges);
}

int Grid::ranks() const {
  int product = 1;
  for (const int extent : extents) product *= extent;
  return product;
}

RankGraph graph_of(const Grid& grid) {
  const int ranks = grid.ranks();
  std::vector<RankGraph::Edge> edges;
  edges.reserve(size_t(ranks) * grid.extents.size());
  int stride = ranks;
  for (size_t d = 0; d < grid.extents.size(); ++d) {
    const int extent = grid.extents[d];
    const int64_t weight = grid.weights.empty() ? 2 : grid.weights[d];
    stride /= extent;
    for (int rank = 0; rank < ranks; ++rank) {
      const int at = rank / stride % extent;
      if (at + 1 < extent)
        edges.push_back({rank, rank + stride, weight});
      else if (grid.periodic[d])
        edges.push_back({rank, rank - at * stride, weight});
    }
  }
  return RankGraph(ranks, edges);
}

}  // namespace haichi::plan
