// Hooks of the functions that make communicators with a topology. Where the program allows another
// order of ranks, neighbours come onto one node; the library then makes the topology of the ranks
// in that order.
#include <memory>
#include <tuple>
#include <vector>

#include "generated/by_new_topology.h"
#include "mpi/collectives/nonblocking_peers.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/weights.h"
#include "mpi/topologies/reorder.h"

namespace haichi::mpi {
namespace {

GivenTopology given(const Cart_create& call, int size, int) {
  return given_grid(size, call.ndims, call.dims, call.periods);
}
GivenTopology given(const Graph_create& call, int size, int rank) {
  return given_graph(size, call.nnodes, call.index, call.edges, rank == 0);
}
GivenTopology given(const Dist_graph_create& call, int size, int) {
  return given_edges(size, call.n, call.sources, call.degrees, call.destinations, call.weights);
}
GivenTopology given(const Dist_graph_create_adjacent& call, int size, int rank) {
  return given_neighbours(size, rank, call.indegree, call.sources, call.sourceweights,
                          call.outdegree, call.destinations, call.destweights);
}

/// All ranks give all of the topology, or any part of it: so who gives it does not matter.
template <class Call>
int made_of(const OrderedComm& ordered, Call call) {
  call.comm_old = ordered.comm();
  call.reorder = 0;
  return call.real_call();
}

/// What this rank gives is now another one's.
int made_of(const OrderedComm& ordered, Dist_graph_create_adjacent call) {
  const bool weighted = call.destweights != unweighted();
  std::vector<int> mine = {call.indegree, call.outdegree};
  const auto pack = [&](const int* numbers, int count) {
    mine.insert(mine.end(), numbers, numbers + count);
  };
  pack(call.sources, call.indegree);
  pack(call.destinations, call.outdegree);
  if (weighted) pack(call.sourceweights, call.indegree);
  if (weighted) pack(call.destweights, call.outdegree);
  std::vector<int> got = ordered.passed_on(mine);
  got.push_back(0);  // so that nothing points past the end, however few there are
  call.indegree = got[0];
  call.outdegree = got[1];
  call.sources = got.data() + 2;
  call.destinations = call.sources + call.indegree;
  if (weighted) {
    const int* const weights = call.destinations + call.outdegree;
    call.sourceweights = call.indegree ? weights : weights_empty();
    call.destweights = call.outdegree ? weights + call.indegree : weights_empty();
  }
  call.comm_old = ordered.comm();
  call.reorder = 0;
  return call.real_call();
}

template <class Call>
int made(const Call& call, MPI_Comm* newcomm) {
  int size = 0, rank = 0;
  if (newcomm == nullptr || !may_be_ordered(call.comm_old, size, rank)) return call.real_call();
  const GivenTopology topology = given(call, size, rank);
  if (topology.is == CallIs::refused) return call.real_call();
  {
    const auto ordered = order_for(call.comm_old, Call::kName, call.reorder != 0, topology);
    if (ordered && made_of(*ordered, call) == MPI_SUCCESS) {
      inherit_errhandler(*newcomm, call.comm_old);
      return MPI_SUCCESS;
    }
  }
  return call.real_call();
}

template <class Call>
int new_topology(const Call& call) {
  MPI_Comm* const newcomm = std::get<MPI_Comm*>(call.arguments());
  const int result = made(call, newcomm);
  // On a rank that is not in the new communicator there is none.
  if (result == MPI_SUCCESS && *newcomm != handles().comm_null) prepare_nonblocking(*newcomm);
  return result;
}

}  // namespace
}  // namespace haichi::mpi
