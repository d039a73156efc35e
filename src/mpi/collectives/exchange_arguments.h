// The arguments of MPI_Alltoall, MPI_Allgather and their kin as an exchange.
//
// What the MPI library would refuse becomes no exchange: the call then goes to the library, which
// says so, on this rank as without haichi. The others wait for it in haichi's messages as they
// would in the library's. What the standard lets be anything is never looked at.
#pragma once

#include <mpi.h>

#include <optional>

#include "generated/real.h"
#include "mpi/collectives/comm_attachment.h"
#include "mpi/collectives/exchange_call.h"
#include "mpi/collectives/exchange_soundness.h"

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

/// Of a call that places what it sends.
template <class Call>
ExchangeSide sent_blocks(const Call& call, size_t blocks) {
  if constexpr (requires { call.sendtypes; })
    return typed_side(call.sendbuf, blocks, call.sendcounts, call.sdispls, call.sendtypes);
  else
    return placed_side(call.sendbuf, blocks, call.sendcounts, call.sdispls, call.sendtype);
}

/// Of the same, what it receives.
template <class Call>
ExchangeSide received_blocks(const Call& call, size_t blocks) {
  if constexpr (requires { call.recvtypes; })
    return typed_side(call.recvbuf, blocks, call.recvcounts, call.rdispls, call.recvtypes);
  else
    return placed_side(call.recvbuf, blocks, call.recvcounts, call.rdispls, call.recvtype);
}

/// Whether an all-to-all sends and receives what looks the same.
template <class Call>
bool has_same_buffers(const Call& call) {
  if (call.sendbuf != call.recvbuf) return false;
  if constexpr (requires { call.sendtypes; })
    return call.sendcounts == call.recvcounts && call.sendtypes == call.recvtypes;
  else if constexpr (requires { call.sendcounts; })
    return call.sendcounts == call.recvcounts && call.sendtype == call.recvtype;
  else
    return call.sendcount == call.recvcount && call.sendtype == call.recvtype && call.sendcount > 0;
}

/// An all-to-all of so many ranks. Nothing in place: there every block that comes would overwrite
/// one that has to go.
template <class Call>
std::optional<ExchangeCall> alltoall_call(const Call& call, int ranks) {
  if (call.sendbuf == MPI_IN_PLACE) return std::nullopt;
  if (has_same_buffers(call) && refuses_same_buffers()) return std::nullopt;
  if constexpr (requires { call.sendcounts; })
    return sound(
        {Call::kPlainName, sent_blocks(call, size_t(ranks)), received_blocks(call, size_t(ranks))});
  else
    return sound({Call::kPlainName,
                  {const_cast<void*>(call.sendbuf), {call.sendtype}, call.sendcount},
                  {call.recvbuf, {call.recvtype}, call.recvcount}});
}

/// Of a call that the library has carried out: bytes that this rank received, if all know that it
/// is the same for all.
template <class Call>
int64_t bytes_received(const Call& call) {
  if constexpr (requires { call.recvcount; }) {
    int ranks = 0;
    MPI_Count size = 0;
    if (call.recvcount <= 0 || real().Comm_size(call.comm, &ranks) != MPI_SUCCESS ||
        real().Type_size_x(call.recvtype, &size) != MPI_SUCCESS)
      return 0;
    return int64_t(ranks) * int64_t(call.recvcount) * int64_t(size);
  }
  return 0;
}

/// A blocking collective of the program's. `exchange_of(state)` is it as an exchange, or nothing if
/// it is the MPI library's; `bytes()` what a rank received, 0 if that is not known to all.
template <class Call, class Bytes, class ExchangeOf>
int carry_out(const Call& call, Bytes bytes, ExchangeOf exchange_of) {
  CommAttachment* const attached = attachment_for_call(call.comm);
  if (attached == nullptr) return call.real_call();
  if (!attached->settled) {
    const int result = call.real_call();
    library_did(*attached, call.comm, result, result == MPI_SUCCESS ? bytes() : 0);
    return result;
  }
  CommState* const state = attached->state.get();
  const std::optional<ExchangeCall> exchange = state ? exchange_of(*state) : std::nullopt;
  return exchange ? run_exchange(call.comm, *state, *exchange, [&] { return call.real_call(); })
                  : call.real_call();
}

}  // namespace haichi::mpi
