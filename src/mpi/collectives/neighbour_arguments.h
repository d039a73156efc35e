// The arguments of MPI_Neighbor_alltoall, MPI_Neighbor_allgather and their kin as an exchange.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/collectives/exchange_arguments.h"
#include "mpi/collectives/neighbourhood.h"
#include "mpi/compat/handles.h"

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

/// An all-to-all among neighbours.
template <class Call>
std::optional<ExchangeCall> neighbour_alltoall_call(const Call& call,
                                                    const collectives::Neighbours& neighbours) {
  const size_t out = neighbours.destinations.size(), in = neighbours.sources.size();
  if constexpr (requires { call.sendcounts; })
    return neighbour_call(Call::kPlainName, neighbours, sent_blocks(call, out),
                          received_blocks(call, in));
  else
    return neighbour_call(Call::kPlainName, neighbours,
                          row_side(call.sendbuf, out, call.sendcount, call.sendtype),
                          row_side(call.recvbuf, in, call.recvcount, call.recvtype));
}

}  // namespace haichi::mpi
