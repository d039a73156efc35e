// The arguments of MPI_Neighbor_alltoall, MPI_Neighbor_allgather and their kin as an exchange.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/compat/handles.h"
#include "mpi/exchange_arguments.h"
#include "mpi/neighbourhood.h"

namespace haichi::mpi {

/// What `neighbourhood` is to a call that haichi may carry out; null if the call is the MPI
/// library's: on all ranks alike.
inline const collectives::Neighbours* neighbours_for(
    NeighbourCall call, const void* sendbuf, const std::optional<Neighbourhood>& neighbourhood) {
  const bool taken = sendbuf != MPI_IN_PLACE && neighbourhood && neighbourhood->matches_alike(call);
  return taken ? &neighbourhood->neighbours : nullptr;
}

/// Blocks one after the other.
template <class Count>
ExchangeSide row_side(const void* buffer, size_t blocks, Count count, MPI_Datatype type) {
  ExchangeSide side{const_cast<void*>(buffer), {type}, count < 0 ? -1 : 0};
  for (size_t place = 0; place < blocks; ++place) {
    side.counts.push_back(count);
    side.at.push_back(int64_t(place) * count);
  }
  return side;
}

/// One block, for so many.
template <class Count>
ExchangeSide copies_side(const void* buffer, size_t copies, Count count, MPI_Datatype type) {
  ExchangeSide side = one_block_side(buffer, count, type);
  side.counts.assign(copies, count);
  return side;
}

/// Nobody's block has no bytes, whatever the program says of it.
inline void leave_out_nobody(ExchangeSide& side, const std::vector<int>& ranks) {
  for (size_t place = 0; place < ranks.size(); ++place) {
    if (ranks[place] != collectives::Neighbours::kNobody) continue;
    side.counts[place] = 0;
    if (side.at_bytes) side.types[place] = handles().byte;
  }
}

/// Nothing where something is wrong.
inline std::optional<ExchangeCall> neighbour_call(const char* name,
                                                  const collectives::Neighbours& neighbours,
                                                  ExchangeSide send, ExchangeSide receive) {
  leave_out_nobody(send, neighbours.destinations);
  leave_out_nobody(receive, neighbours.sources);
  return sound({name, std::move(send), std::move(receive), collectives::Kind::neighbours});
}

template <class Count>
std::optional<ExchangeCall> neighbour_alltoall_call(const char* name,
                                                    const collectives::Neighbours& neighbours,
                                                    const void* sendbuf, Count sendcount,
                                                    MPI_Datatype sendtype, void* recvbuf,
                                                    Count recvcount, MPI_Datatype recvtype) {
  return neighbour_call(name, neighbours,
                        row_side(sendbuf, neighbours.destinations.size(), sendcount, sendtype),
                        row_side(recvbuf, neighbours.sources.size(), recvcount, recvtype));
}

template <class Count, class Displacement>
std::optional<ExchangeCall> neighbour_alltoallv_call(
    const char* name, const collectives::Neighbours& neighbours, const void* sendbuf,
    const Count* sendcounts, const Displacement* sdispls, MPI_Datatype sendtype, void* recvbuf,
    const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype) {
  return neighbour_call(
      name, neighbours,
      placed_side(sendbuf, neighbours.destinations.size(), sendcounts, sdispls, sendtype),
      placed_side(recvbuf, neighbours.sources.size(), recvcounts, rdispls, recvtype));
}

template <class Count>
std::optional<ExchangeCall> neighbour_alltoallw_call(
    const char* name, const collectives::Neighbours& neighbours, const void* sendbuf,
    const Count* sendcounts, const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
    const Count* recvcounts, const MPI_Aint* rdispls, const MPI_Datatype* recvtypes) {
  return neighbour_call(
      name, neighbours,
      typed_side(sendbuf, neighbours.destinations.size(), sendcounts, sdispls, sendtypes),
      typed_side(recvbuf, neighbours.sources.size(), recvcounts, rdispls, recvtypes));
}

}  // namespace haichi::mpi
