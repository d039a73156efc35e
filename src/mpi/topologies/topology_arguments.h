// What haichi makes of the arguments of the functions that make topologies.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/rank_graph.h"

namespace haichi::mpi {

/// How this rank's call is told to the others.
enum class CallIs {
  refused,  ///< every MPI library refuses it at once, on this rank alone
  odd,      ///< the library may take it, and haichi leaves it to it
  sound,
};

/// An edge of a distributed graph, as one rank gave it.
struct GivenEdge {
  int from, to, weight;
};

/// What one rank gave of a topology.
struct GivenTopology {
  CallIs is = CallIs::refused;
  std::optional<plan::Grid> grid;  ///< of MPI_Cart_create; else a graph
  std::vector<GivenEdge> edges;    ///< those that this rank gave
  int ranks = 0;                   ///< of the topology, the first ones of the communicator
  uint64_t alike = 0;              ///< a number that is the same where ranks gave what has to be
};

/// `size`: ranks of the communicator, for all of these.
GivenTopology given_grid(int size, int dimensions, const int* extents, const int* periods);
GivenTopology given_graph(int size, int nodes, const int* index, const int* edges, bool first_rank);
GivenTopology given_neighbours(int size, int rank, int in, const int* sources,
                               const int* source_weights, int out, const int* destinations,
                               const int* weights);
GivenTopology given_edges(int size, int n, const int* sources, const int* degrees,
                          const int* destinations, const int* weights);

}  // namespace haichi::mpi
