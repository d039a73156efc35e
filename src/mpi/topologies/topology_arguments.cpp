#include "mpi/topologies/topology_arguments.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "mpi/compat/weights.h"

namespace haichi::mpi {
namespace {

GivenTopology odd() { return {.is = CallIs::odd}; }

uint64_t hash_of(const std::vector<int>& numbers) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()),
                               numbers.size() * sizeof numbers[0]);
  return std::hash<std::string_view>()(bytes);
}

bool within(int rank, int size) { return rank >= 0 && rank < size; }

bool all_within(const int* ranks, int count, int size) {
  return std::all_of(ranks, ranks + count, [&](int rank) { return within(rank, size); });
}

/// Weights of so many edges as haichi may read them.
bool readable(const int* weights, int count) {
  if (weights == unweighted()) return true;
  if (count == 0) return true;
  if (weights == nullptr || weights == weights_empty()) return false;
  return std::all_of(weights, weights + count, [](int weight) { return weight >= 0; });
}

int weight_of(const int* weights, int i) { return weights == unweighted() ? 1 : weights[i]; }

}  // namespace

GivenTopology given_grid(int size, int dimensions, const int* extents, const int* periods) {
  if (dimensions < 0 || (dimensions > 0 && (!extents || !periods))) return {};
  int64_t ranks = 1;
  plan::Grid grid;
  std::vector<int> numbers;
  for (int d = 0; d < dimensions; ++d) {
    if (extents[d] <= 0) return odd();  // MPICH takes negative ones
    ranks *= extents[d];
    if (ranks > size) return {};
    grid.extents.push_back(extents[d]);
    grid.periodic.push_back(periods[d] != 0);
    numbers.insert(numbers.end(), {extents[d], periods[d] != 0});
  }
  if (dimensions == 0) return odd();
  return {
      .is = CallIs::sound, .grid = std::move(grid), .ranks = int(ranks), .alike = hash_of(numbers)};
}

GivenTopology given_graph(int size, int nodes, const int* index, const int* edges,
                          bool first_rank) {
  if (nodes < 0 || nodes > size || (nodes > 0 && (!index || !edges))) return {};
  std::vector<int> numbers = {nodes};
  GivenTopology given{.is = CallIs::sound, .ranks = nodes};
  int done = 0;
  for (int node = 0; node < nodes; ++node) {
    if (index[node] < done || !all_within(edges + done, index[node] - done, nodes)) return odd();
    numbers.push_back(index[node]);
    numbers.insert(numbers.end(), edges + done, edges + index[node]);
    for (; done < index[node]; ++done)
      if (first_rank) given.edges.push_back({node, edges[done], 1});
  }
  if (nodes == 0) return odd();
  given.alike = hash_of(numbers);
  return given;
}

GivenTopology given_neighbours(int size, int rank, int in, const int* sources,
                               const int* source_weights, int out, const int* destinations,
                               const int* weights) {
  if (in < 0 || out < 0 || (in > 0 && !sources) || (out > 0 && !destinations)) return {};
  if (!all_within(sources, in, size) || !all_within(destinations, out, size) ||
      !readable(source_weights, in) || !readable(weights, out) ||
      (source_weights == unweighted()) != (weights == unweighted()))
    return odd();
  GivenTopology given{
      .is = CallIs::sound, .ranks = size, .alike = uint64_t{2} * (weights == unweighted())};
  // Each edge is given at both ends; the one that sends says it for both.
  for (int i = 0; i < out; ++i)
    given.edges.push_back({rank, destinations[i], weight_of(weights, i)});
  return given;
}

GivenTopology given_edges(int size, int n, const int* sources, const int* degrees,
                          const int* destinations, const int* weights) {
  if (n < 0 || (n > 0 && (!sources || !degrees))) return {};
  GivenTopology given{.is = CallIs::sound, .ranks = size};
  int64_t count = 0;
  for (int i = 0; i < n; ++i) {
    if (degrees[i] < 0) return {};
    count += degrees[i];
  }
  if (count > 0 && !destinations) return {};
  if (count > INT32_MAX || !all_within(sources, n, size) ||
      !all_within(destinations, int(count), size) || !readable(weights, int(count)))
    return odd();
  for (int i = 0, next = 0; i < n; ++i)
    for (int end = next + degrees[i]; next < end; ++next)
      given.edges.push_back({sources[i], destinations[next], weight_of(weights, next)});
  return given;
}

}  // namespace haichi::mpi
