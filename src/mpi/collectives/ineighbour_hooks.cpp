// Hooks of the nonblocking and persistent all-to-alls among neighbours.
#include "generated/by_ineighbour_alltoall.h"
#include "generated/by_neighbour_alltoall_init.h"
#include "mpi/collectives/exchange_forms.h"
#include "mpi/collectives/neighbour_arguments.h"

namespace haichi::mpi {
namespace {

/// All are passed through alike where a rank is a neighbour more than once: the nonblocking forms
/// of Open MPI 4.1 and 5.0 receive in order in a grid, other than its blocking ones.
template <class Call>
int run(const Call& call, decltype(&start_exchange) begin) {
  return begin_exchange(call, begin, [&](const CommPeers& peers) -> std::optional<ExchangeCall> {
    const collectives::Neighbours* const neighbours =
        neighbours_for(NeighbourCall::alltoallv, call.sendbuf, peers.neighbourhood);
    return neighbours ? neighbour_alltoall_call(call, *neighbours) : std::nullopt;
  });
}

template <class Call>
int ineighbour_alltoall(const Call& call) {
  return run(call, start_exchange);
}

template <class Call>
int neighbour_alltoall_init(const Call& call) {
  return run(call, make_persistent_exchange);
}

}  // namespace
}  // namespace haichi::mpi
