// The arguments of MPI_Alltoall, MPI_Allgather and their kin as an exchange.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/exchange_call.h"

namespace haichi::mpi {

/// Blocks of one datatype, each of which the program places.
template <class Count, class Displacement>
ExchangeSide placed_side(const void* buffer, size_t blocks, const Count* counts,
                         const Displacement* displs, MPI_Datatype type) {
  return {
      const_cast<void*>(buffer), {type}, 0, {counts, counts + blocks}, {displs, displs + blocks}};
}

/// The same, with a datatype for each; their places are in bytes.
template <class Count, class Displacement>
ExchangeSide typed_side(const void* buffer, size_t blocks, const Count* counts,
                        const Displacement* displs, const MPI_Datatype* types) {
  return {const_cast<void*>(buffer), {types, types + blocks},   0,
          {counts, counts + blocks}, {displs, displs + blocks}, true};
}

/// One block that all get.
inline ExchangeSide one_block_side(const void* buffer, int64_t count, MPI_Datatype type) {
  ExchangeSide side{const_cast<void*>(buffer), {type}, count};
  side.one_block = true;
  return side;
}

/// Nothing where something is wrong, which is for the MPI library to say.
inline std::optional<ExchangeCall> sound(ExchangeCall call) {
  const bool wrong =
      (!call.in_place && call.send.has_negative_count()) || call.receive.has_negative_count();
  return wrong ? std::nullopt : std::optional(std::move(call));
}

/// Nothing where something is wrong, or in place: there every block that comes would overwrite one
/// that has to go.
template <class Count>
std::optional<ExchangeCall> alltoall_call(const char* name, const void* sendbuf, Count sendcount,
                                          MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                                          MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE) return std::nullopt;
  return sound({name,
                {const_cast<void*>(sendbuf), {sendtype}, sendcount},
                {recvbuf, {recvtype}, recvcount}});
}

/// The same, for a communicator of so many ranks.
template <class Count, class Displacement>
std::optional<ExchangeCall> alltoallv_call(const char* name, int ranks, const void* sendbuf,
                                           const Count* sendcounts, const Displacement* sdispls,
                                           MPI_Datatype sendtype, void* recvbuf,
                                           const Count* recvcounts, const Displacement* rdispls,
                                           MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE) return std::nullopt;
  return sound({name, placed_side(sendbuf, size_t(ranks), sendcounts, sdispls, sendtype),
                placed_side(recvbuf, size_t(ranks), recvcounts, rdispls, recvtype)});
}

/// The same, each block with a datatype of its own.
template <class Count, class Displacement>
std::optional<ExchangeCall> alltoallw_call(const char* name, int ranks, const void* sendbuf,
                                           const Count* sendcounts, const Displacement* sdispls,
                                           const MPI_Datatype* sendtypes, void* recvbuf,
                                           const Count* recvcounts, const Displacement* rdispls,
                                           const MPI_Datatype* recvtypes) {
  if (sendbuf == MPI_IN_PLACE) return std::nullopt;
  return sound({name, typed_side(sendbuf, size_t(ranks), sendcounts, sdispls, sendtypes),
                typed_side(recvbuf, size_t(ranks), recvcounts, rdispls, recvtypes)});
}

}  // namespace haichi::mpi
