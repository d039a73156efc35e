// Hooks of the functions that make communicators. The ranks of a new one are all here, and may wait
// for one another: never again so if it is used for nonblocking collectives only.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/nonblocking_peers.h"

namespace haichi::mpi {
namespace {

/// `result` of the call that made the communicator, or none on a rank that is not in it.
int prepared(int result, const MPI_Comm* made) {
  if (result == MPI_SUCCESS && *made != handles().comm_null) prepare_nonblocking(*made);
  return result;
}

}  // namespace

int on_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return prepared(real().Comm_dup(comm, newcomm), newcomm);
}

int on_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return prepared(real().Comm_dup_with_info(comm, info, newcomm), newcomm);
}

int on_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return prepared(real().Comm_split(comm, color, key, newcomm), newcomm);
}

int on_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return prepared(real().Comm_split_type(comm, split_type, key, info, newcomm), newcomm);
}

int on_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return prepared(real().Comm_create(comm, group, newcomm), newcomm);
}

int on_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* newcomm) {
  return prepared(real().Comm_create_group(comm, group, tag, newcomm), newcomm);
}

int on_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm* newintracomm) {
  return prepared(real().Intercomm_merge(intercomm, high, newintracomm), newintracomm);
}

int on_Cart_create(MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
                   MPI_Comm* comm_cart) {
  return prepared(real().Cart_create(comm_old, ndims, dims, periods, reorder, comm_cart),
                  comm_cart);
}

int on_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return prepared(real().Cart_sub(comm, remain_dims, newcomm), newcomm);
}

int on_Graph_create(MPI_Comm comm_old, int nnodes, const int index[], const int edges[],
                    int reorder, MPI_Comm* comm_graph) {
  return prepared(real().Graph_create(comm_old, nnodes, index, edges, reorder, comm_graph),
                  comm_graph);
}

int on_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                         const int destinations[], const int weights[], MPI_Info info, int reorder,
                         MPI_Comm* comm_dist_graph) {
  return prepared(real().Dist_graph_create(comm_old, n, sources, degrees, destinations, weights,
                                           info, reorder, comm_dist_graph),
                  comm_dist_graph);
}

int on_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                  const int sourceweights[], int outdegree,
                                  const int destinations[], const int destweights[], MPI_Info info,
                                  int reorder, MPI_Comm* comm_dist_graph) {
  return prepared(
      real().Dist_graph_create_adjacent(comm_old, indegree, sources, sourceweights, outdegree,
                                        destinations, destweights, info, reorder, comm_dist_graph),
      comm_dist_graph);
}

}  // namespace haichi::mpi
