#include "collectives/neighbours.h"

#include <algorithm>
#include <numeric>

namespace haichi::collectives {
namespace {

bool repeats(std::vector<int> ranks) {
  std::erase(ranks, Neighbours::kNobody);
  std::sort(ranks.begin(), ranks.end());
  return std::adjacent_find(ranks.begin(), ranks.end()) != ranks.end();
}

}  // namespace

Neighbours Neighbours::of_graph(std::vector<int> sources, std::vector<int> destinations) {
  std::vector<int> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  return {std::move(sources), std::move(destinations), std::move(order)};
}

Neighbours Neighbours::of_grid(std::vector<int> neighbours) {
  Neighbours grid = of_graph(neighbours, neighbours);
  for (int& place : grid.receive_order) place ^= 1;
  return grid;
}

bool Neighbours::repeated() const { return repeats(sources) || repeats(destinations); }

int Neighbours::own(int me) const {
  return int(std::count(destinations.begin(), destinations.end(), me));
}

}  // namespace haichi::collectives
