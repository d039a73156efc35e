#include "mpi/collectives/neighbourhood.h"

#include <algorithm>

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

using collectives::Neighbours;

std::optional<Neighbours> of_grid(MPI_Comm comm) {
  int dimensions = 0;
  if (real().Cartdim_get(comm, &dimensions) != MPI_SUCCESS) return std::nullopt;
  std::vector<int> neighbours(2 * size_t(dimensions));
  for (int d = 0; d < dimensions; ++d)
    if (int* const pair = &neighbours[2 * size_t(d)];
        real().Cart_shift(comm, d, 1, &pair[0], &pair[1]) != MPI_SUCCESS)
      return std::nullopt;
  return Neighbours::of_grid(std::move(neighbours));
}

std::optional<Neighbours> of_graph(MPI_Comm comm, int rank) {
  int count = 0;
  if (real().Graph_neighbors_count(comm, rank, &count) != MPI_SUCCESS) return std::nullopt;
  std::vector<int> neighbours(static_cast<size_t>(count) + 1);  // not null where there are none
  if (real().Graph_neighbors(comm, rank, count, neighbours.data()) != MPI_SUCCESS)
    return std::nullopt;
  neighbours.pop_back();
  return Neighbours::of_graph(neighbours, neighbours);
}

// Open MPI demands room for weights, also where there are none.
std::optional<Neighbours> of_distributed_graph(MPI_Comm comm) {
  int in = 0, out = 0, weighted = 0;
  if (real().Dist_graph_neighbors_count(comm, &in, &out, &weighted) != MPI_SUCCESS)
    return std::nullopt;
  std::vector<int> sources(static_cast<size_t>(in) + 1), source_weights(sources.size());
  std::vector<int> destinations(static_cast<size_t>(out) + 1), weights(destinations.size());
  if (real().Dist_graph_neighbors(comm, in, sources.data(), source_weights.data(), out,
                                  destinations.data(), weights.data()) != MPI_SUCCESS)
    return std::nullopt;
  sources.pop_back();
  destinations.pop_back();
  return Neighbours::of_graph(std::move(sources), std::move(destinations));
}

std::optional<Neighbours> neighbours_of(MPI_Comm comm, int topology, int rank) {
  if (topology == MPI_CART) return of_grid(comm);
  if (topology == MPI_GRAPH) return of_graph(comm, rank);
  if (topology == MPI_DIST_GRAPH) return of_distributed_graph(comm);
  return std::nullopt;
}

}  // namespace

std::optional<Neighbourhood> neighbourhood_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED, rank = 0;
  if (real().Topo_test(comm, &topology) != MPI_SUCCESS ||
      real().Comm_rank(comm, &rank) != MPI_SUCCESS)
    return std::nullopt;
  auto found = neighbours_of(comm, topology, rank);
  if (!found) return std::nullopt;
  Neighbours& neighbours = *found;
  for (std::vector<int>* const list : {&neighbours.sources, &neighbours.destinations})
    std::replace(list->begin(), list->end(), int{MPI_PROC_NULL}, Neighbours::kNobody);
  Neighbourhood made;
  made.cartesian = topology == MPI_CART;
  made.own = neighbours.own(rank);
  made.repeated = neighbours.repeated();
  made.most = int(neighbours.destinations.size());
  made.neighbours = std::move(neighbours);
  return made;
}

bool agree_on_neighbourhood(std::optional<Neighbourhood>& mine, bool ready, MPI_Comm comm) {
  const int64_t here[] = {ready, mine.has_value(), mine && !mine->repeated, mine ? -mine->most : 0};
  int64_t least[std::size(here)] = {};
  const Handles& h = handles();
  if (real().Allreduce(here, least, int(std::size(here)), h.int64, h.op_min, comm) != MPI_SUCCESS ||
      !least[0])
    return false;
  if (!least[1]) {
    mine.reset();
  } else {
    mine->repeated = !least[2];
    mine->most = int(-least[3]);
  }
  return true;
}

}  // namespace haichi::mpi
