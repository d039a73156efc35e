// The arguments of MPI_Alltoall, MPI_Allgather and their kin as an exchange.
//
// What the MPI library would refuse becomes no exchange: the call then goes to the library, which
// says so, on this rank as without haichi. The others wait for it in haichi's messages as they
// would in the library's. What the standard lets be anything is never looked at.
#pragma once

#include <mpi.h>

#include <optional>

#include "generated/real.h"
#include "mpi/comm_attachment.h"
#include "mpi/exchange_call.h"
#include "mpi/exchange_soundness.h"

namespace haichi::mpi {

/// A side that no library takes.
inline ExchangeSide no_side() { return {nullptr, {}, -1}; }

/// Blocks of one datatype, each of which the program places.
template <class Count, class Displacement>
ExchangeSide placed_side(const void* buffer, size_t blocks, const Count* counts,
                         const Displacement* displs, MPI_Datatype type) {
  if (blocks > 0 && (!counts || !displs)) return no_side();
  return {
      const_cast<void*>(buffer), {type}, 0, {counts, counts + blocks}, {displs, displs + blocks}};
}

/// The same, with a datatype for each; their places are in bytes.
template <class Count, class Displacement>
ExchangeSide typed_side(const void* buffer, size_t blocks, const Count* counts,
                        const Displacement* displs, const MPI_Datatype* types) {
  if (blocks > 0 && (!counts || !displs || !types)) return no_side();
  return {const_cast<void*>(buffer), {types, types + blocks},   0,
          {counts, counts + blocks}, {displs, displs + blocks}, true};
}

/// One block that all get.
inline ExchangeSide one_block_side(const void* buffer, int64_t count, MPI_Datatype type) {
  ExchangeSide side{const_cast<void*>(buffer), {type}, count};
  side.one_block = true;
  return side;
}

/// Of an all-gather: what is sent, of which nothing is looked at if it is in place.
inline ExchangeSide own_block_side(const void* buffer, int64_t count, MPI_Datatype type) {
  return buffer == MPI_IN_PLACE ? one_block_side(nullptr, 0, handles().byte)
                                : one_block_side(buffer, count, type);
}

/// Nothing in place: there every block that comes would overwrite one that has to go.
template <class Count>
std::optional<ExchangeCall> alltoall_call(const char* name, const void* sendbuf, Count sendcount,
                                          MPI_Datatype sendtype, void* recvbuf, Count recvcount,
                                          MPI_Datatype recvtype) {
  if (sendbuf == MPI_IN_PLACE) return std::nullopt;
  if (sendbuf == recvbuf && sendcount == recvcount && sendtype == recvtype && sendcount > 0 &&
      refuses_same_buffers())
    return std::nullopt;
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
  if (sendbuf == recvbuf && sendcounts == recvcounts && sendtype == recvtype &&
      refuses_same_buffers())
    return std::nullopt;
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
  if (sendbuf == recvbuf && sendcounts == recvcounts && sendtypes == recvtypes &&
      refuses_same_buffers())
    return std::nullopt;
  return sound({name, typed_side(sendbuf, size_t(ranks), sendcounts, sdispls, sendtypes),
                typed_side(recvbuf, size_t(ranks), recvcounts, rdispls, recvtypes)});
}

/// Of a call that the library has carried out: bytes that this rank received in blocks of one size.
template <class Count>
int64_t bytes_received(MPI_Comm comm, Count count, MPI_Datatype type) {
  int ranks = 0;
  MPI_Count size = 0;
  if (count <= 0 || real().Comm_size(comm, &ranks) != MPI_SUCCESS ||
      real().Type_size_x(type, &size) != MPI_SUCCESS)
    return 0;
  return int64_t(ranks) * int64_t(count) * int64_t(size);
}

inline int64_t no_bytes_known() { return 0; }

/// A blocking collective of the program's. `call(state)` is it as an exchange, or nothing if it is
/// the MPI library's; `bytes()` what a rank received if all know that it is the same for all.
template <class Bytes, class Call, class RealCall>
int carry_out(MPI_Comm comm, Bytes bytes, Call call, RealCall real_call) {
  CommAttachment* const attached = attachment_for_call(comm);
  if (attached == nullptr) return real_call();
  if (!attached->settled) {
    const int result = real_call();
    library_did(*attached, comm, result, result == MPI_SUCCESS ? bytes() : 0);
    return result;
  }
  CommState* const state = attached->state.get();
  const std::optional<ExchangeCall> exchange = state ? call(*state) : std::nullopt;
  return exchange ? run_exchange(comm, *state, *exchange, real_call) : real_call();
}

}  // namespace haichi::mpi
