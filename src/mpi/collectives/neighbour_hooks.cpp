// Hooks of the blocking all-to-alls and all-gathers among neighbours.
#include "generated/by_neighbour_allgather.h"
#include "generated/by_neighbour_alltoall.h"
#include "mpi/collectives/neighbour_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Neighbours;

/// `exchange_of(neighbours)` is the program's call as an exchange.
template <class Call, class ExchangeOf>
int run(const Call& call, NeighbourCall kind, ExchangeOf exchange_of) {
  const auto no_bytes_known = [] { return int64_t{0}; };
  return carry_out(call, no_bytes_known, [&](const CommState& state) {
    const Neighbours* const neighbours = neighbours_for(kind, call.sendbuf, state.neighbourhood);
    return neighbours ? exchange_of(*neighbours) : std::nullopt;
  });
}

template <class Call>
int neighbour_alltoall(const Call& call) {
  constexpr bool placed = requires { call.sendcounts; };
  return run(call, placed ? NeighbourCall::alltoallv : NeighbourCall::alltoall,
             [&](const Neighbours& among) { return neighbour_alltoall_call(call, among); });
}

/// What comes from so many neighbours.
template <class Call>
ExchangeSide received(const Call& call, size_t sources) {
  if constexpr (requires { call.recvcounts; })
    return placed_side(call.recvbuf, sources, call.recvcounts, call.displs, call.recvtype);
  else
    return row_side(call.recvbuf, sources, call.recvcount, call.recvtype);
}

template <class Call>
int neighbour_allgather(const Call& call) {
  return run(call, NeighbourCall::allgather, [&](const Neighbours& among) {
    return neighbour_call(
        Call::kPlainName, among,
        copies_side(call.sendbuf, among.destinations.size(), call.sendcount, call.sendtype),
        received(call, among.sources.size()));
  });
}

}  // namespace
}  // namespace haichi::mpi
