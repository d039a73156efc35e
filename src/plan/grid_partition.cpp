#include "plan/grid_partition.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "plan/partition.h"

namespace haichi::plan {
namespace {

// Shapes of each kind that are tried, by their surface.
constexpr size_t kTriedShapes = 12;
// With more dimensions than that, only some orders of them.
constexpr size_t kAllOrders = 4;
// And counts of slabs within this factor of what cubes would have.
constexpr double kOffCube = 2;

/// Where the ranks of a grid are.
class Coordinates {
 public:
  explicit Coordinates(const Grid& grid) : grid_(grid), strides_(grid.extents.size()) {
    int stride = 1;
    for (size_t d = strides_.size(); d-- > 0; stride *= grid.extents[d]) strides_[d] = stride;
  }
  size_t dimensions() const { return strides_.size(); }
  int extent(size_t d) const { return grid_.extents[d]; }
  int of(int rank, size_t d) const { return rank / strides_[d] % grid_.extents[d]; }
  /// What the ranks of a part exchange across `cuts` cuts of the whole grid in this dimension.
  double surface(size_t d, double cuts) const {
    const double weight = grid_.weights.empty() ? 1 : double(grid_.weights[d]);
    const double open = grid_.periodic[d] ? 0 : 1;
    return cuts > 1 ? weight * (cuts - open) / extent(d) : 0;
  }

 private:
  const Grid& grid_;
  std::vector<int> strides_;
};

/// Goes forth and back along each dimension, so that what follows in it is a neighbour.
class Snake {
 public:
  void step(int64_t at, int64_t extent) {
    index_ = index_ * extent + (index_ % 2 ? extent - 1 - at : at);
  }
  int64_t index() const { return index_; }

 private:
  int64_t index_ = 0;
};

/// Sorts ranks along the dimension order[first], then forth and back along the others, as
/// they follow in `order`, its first ones behind its last.
void sort_along(const Coordinates& at, const std::vector<size_t>& order, size_t first,
                std::span<int> ranks) {
  std::vector<std::pair<int64_t, int>> keys;
  keys.reserve(ranks.size());
  for (const int rank : ranks) {
    Snake snake;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t d = order[(first + i) % order.size()];
      snake.step(at.of(rank, d), at.extent(d));
    }
    keys.emplace_back(snake.index(), rank);
  }
  std::sort(keys.begin(), keys.end());
  for (size_t i = 0; i < keys.size(); ++i) ranks[i] = keys[i].second;
}

/// Gives the ranks to parts in the order of their keys.
std::vector<int> parts_by(std::vector<std::pair<int64_t, int>> keys, std::span<const int> sizes) {
  std::sort(keys.begin(), keys.end());
  std::vector<int> part_of(keys.size());
  size_t next = 0;
  for (size_t p = 0; p < sizes.size(); ++p)
    for (int i = 0; i < sizes[p]; ++i) part_of[size_t(keys[next++].second)] = int(p);
  return part_of;
}

using Shape = std::vector<int>;  // of a tile, or numbers of slabs in each dimension
using Scored = std::multimap<double, Shape>;

void keep_best(Scored& shapes) {
  while (shapes.size() > kTriedShapes) shapes.erase(std::prev(shapes.end()));
}

/// Shapes of tiles with so many ranks, by what they exchange.
Scored tile_shapes(const Coordinates& at, int ranks) {
  Scored shapes;
  Shape shape(at.dimensions(), 1);
  const std::function<void(size_t, int)> choose = [&](size_t d, int rest) {
    if (d == shape.size()) {
      if (rest > 1) return;
      double surface = 0;
      for (size_t i = 0; i < shape.size(); ++i)
        surface += at.surface(i, double(at.extent(i)) / shape[i]);
      shapes.emplace(surface, shape);
      return keep_best(shapes);
    }
    for (int extent = 1; extent <= std::min(rest, at.extent(d)); ++extent)
      if (rest % extent == 0) {
        shape[d] = extent;
        choose(d + 1, rest / extent);
      }
  };
  choose(0, ranks);
  return shapes;
}

std::vector<int> by_tiles(const Coordinates& at, int ranks, const Shape& tile,
                          std::span<const int> sizes) {
  int64_t volume = 1;
  for (const int extent : tile) volume *= extent;
  std::vector<std::pair<int64_t, int>> keys;
  keys.reserve(size_t(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    Snake outside, inside;
    for (size_t d = 0; d < tile.size(); ++d) {
      const int here = at.of(rank, d), count = (at.extent(d) + tile[d] - 1) / tile[d];
      outside.step(here / tile[d], count);
      inside.step(here % tile[d], tile[d]);
    }
    keys.emplace_back(outside.index() * volume + inside.index(), rank);
  }
  return parts_by(std::move(keys), sizes);
}

/// Numbers of slabs in each dimension but the last of `order`, which takes what is left of the
/// parts, by what they exchange.
Scored slab_counts(const Coordinates& at, const std::vector<size_t>& order, int parts) {
  Scored shapes;
  Shape counts(order.size(), 1);
  double volume = 1;
  for (size_t d = 0; d < at.dimensions(); ++d) volume *= at.extent(d);
  const double side = std::pow(volume / parts, 1 / double(at.dimensions()));
  const std::function<void(size_t, double, double)> choose = [&](size_t i, double rest,
                                                                 double surface) {
    const size_t d = order[i];
    if (i + 1 == order.size()) {
      shapes.emplace(surface + at.surface(d, rest), counts);
      return keep_best(shapes);
    }
    int least = 1, most = int(std::min(rest, double(at.extent(d))));
    if (order.size() > 3) {
      least = std::max(least, int(at.extent(d) / side / kOffCube));
      most = std::min(most, int(at.extent(d) / side * kOffCube) + 1);
    }
    for (int count = least; count <= most; ++count) {
      counts[i] = count;
      choose(i + 1, rest / count, surface + at.surface(d, count));
    }
  };
  choose(0, parts, 0);
  return shapes;
}

/// Cuts the grid into slabs, these into slabs, and so on.
class Slabs {
 public:
  Slabs(const Coordinates& at, int ranks, const std::vector<size_t>& order, const Shape& counts,
        std::span<const int> sizes)
      : at_(at), order_(order), counts_(counts), sizes_(sizes), part_of_(size_t(ranks)) {}

  std::vector<int> divide() {
    std::vector<int> all(part_of_.size());
    std::iota(all.begin(), all.end(), 0);
    divide(all, 0, 0, int(sizes_.size()));
    return std::move(part_of_);
  }

 private:
  /// `ranks` are for the parts from `begin` to `end`.
  void divide(std::span<int> ranks, size_t level, int begin, int end) {
    if (level == order_.size() || end - begin == 1) {
      for (const int rank : ranks) part_of_[size_t(rank)] = begin;
      return;
    }
    sort_along(at_, order_, level, ranks);
    const int parts = end - begin;
    const int slabs = level + 1 == order_.size() ? parts : std::min(parts, counts_[level]);
    size_t done = 0;
    for (int s = 0; s < slabs; ++s) {
      const int first = begin + int(int64_t{parts} * s / slabs);
      const int last = begin + int(int64_t{parts} * (s + 1) / slabs);
      size_t size = 0;
      for (int p = first; p < last; ++p) size += size_t(sizes_[size_t(p)]);
      divide(ranks.subspan(done, size), level + 1, first, last);
      done += size;
    }
  }

  const Coordinates& at_;
  const std::vector<size_t>& order_;
  const Shape& counts_;
  const std::span<const int> sizes_;
  std::vector<int> part_of_;
};

/// Halves a set of ranks and the parts that are for it, again and again, each time across the
/// dimension where that cuts least.
class Halves {
 public:
  Halves(const Coordinates& at, const RankGraph& graph, std::span<const int> sizes)
      : at_(at),
        graph_(graph),
        sizes_(sizes),
        order_(at.dimensions()),
        part_of_(size_t(graph.ranks())) {
    std::iota(order_.begin(), order_.end(), size_t{0});
  }

  std::vector<int> divide() {
    std::vector<int> all(part_of_.size());
    std::iota(all.begin(), all.end(), 0);
    divide(std::move(all), 0, int(sizes_.size()));
    return std::move(part_of_);
  }

 private:
  // All ranks of the set have the part `begin`.
  void divide(std::vector<int> ranks, int begin, int end) {
    if (end - begin < 2) return;
    const int middle = begin + (end - begin) / 2;
    size_t left = 0;
    for (int p = begin; p < middle; ++p) left += size_t(sizes_[size_t(p)]);
    std::vector<int> best;
    int64_t least = INT64_MAX;
    for (size_t d = 0; d < at_.dimensions(); ++d) {
      sort_along(at_, order_, d, ranks);
      for (size_t i = left; i < ranks.size(); ++i) part_of_[size_t(ranks[i])] = middle;
      const int64_t cut = cut_of(std::span(ranks).first(left), middle);
      for (size_t i = left; i < ranks.size(); ++i) part_of_[size_t(ranks[i])] = begin;
      if (cut >= least) continue;
      least = cut;
      best = ranks;
    }
    std::vector<int> rest(best.begin() + std::ptrdiff_t(left), best.end());
    best.resize(left);
    for (const int rank : rest) part_of_[size_t(rank)] = middle;
    divide(std::move(best), begin, middle);
    divide(std::move(rest), middle, end);
  }

  int64_t cut_of(std::span<const int> ranks, int other) const {
    int64_t sum = 0;
    for (const int rank : ranks)
      for (const auto& each : graph_.of(rank))
        if (part_of_[size_t(each.rank)] == other) sum += each.weight;
    return sum;
  }

  const Coordinates& at_;
  const RankGraph& graph_;
  const std::span<const int> sizes_;
  std::vector<size_t> order_;  // of the dimensions: as they are numbered
  std::vector<int> part_of_;
};

/// Orders of the dimensions in which slabs are cut.
std::vector<std::vector<size_t>> orders_of(const Coordinates& at) {
  std::vector<size_t> order(at.dimensions());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<std::vector<size_t>> orders;
  if (order.size() <= kAllOrders) {
    do orders.push_back(order);
    while (std::next_permutation(order.begin(), order.end()));
    return orders;
  }
  orders.push_back(order);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return at.extent(a) > at.extent(b); });
  orders.push_back(order);
  std::reverse(order.begin(), order.end());
  orders.push_back(order);
  return orders;
}

}  // namespace

std::vector<std::vector<int>> divide_grid(const Grid& grid, const RankGraph& graph,
                                          std::span<const int> sizes, int most) {
  const Coordinates at(grid);
  std::multimap<int64_t, std::vector<int>> found;
  const auto offer = [&](std::vector<int> part_of) {
    const int64_t between = weight_between(graph, part_of);
    found.emplace(between, std::move(part_of));
    while (found.size() > size_t(most)) found.erase(std::prev(found.end()));
  };
  std::vector<int> distinct(sizes.begin(), sizes.end());
  std::sort(distinct.begin(), distinct.end());
  const int usual = distinct[distinct.size() / 2];
  for (const auto& [surface, shape] : tile_shapes(at, usual))
    offer(by_tiles(at, graph.ranks(), shape, sizes));
  std::multimap<double, std::pair<std::vector<size_t>, Shape>> slabs;
  for (const std::vector<size_t>& order : orders_of(at))
    for (const auto& [surface, counts] : slab_counts(at, order, int(sizes.size())))
      slabs.emplace(surface, std::pair(order, counts));
  size_t tried = 0;
  for (const auto& [surface, each] : slabs) {
    if (tried++ == 2 * kTriedShapes) break;
    offer(Slabs(at, graph.ranks(), each.first, each.second, sizes).divide());
  }
  offer(Halves(at, graph, sizes).divide());
  std::vector<std::vector<int>> best;
  for (auto& [between, part_of] : found) best.push_back(std::move(part_of));
  return best;
}

}  // namespace haichi::plan
