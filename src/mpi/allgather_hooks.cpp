// Hooks of the blocking all-gather collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Kind;

/// Nothing where something is wrong.
std::optional<ExchangeCall> allgather_call(const char* name, const CommState& state,
                                           const void* sendbuf, ExchangeSide send,
                                           ExchangeSide receive) {
  auto call =
      sound({name, std::move(send), std::move(receive), Kind::all_gather, sendbuf == MPI_IN_PLACE});
  if (call && own_block_refused(*call, state.rank)) call.reset();
  return call;
}

template <class Count, class RealCall>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  const auto call = [&](const CommState& state) {
    return allgather_call("MPI_Allgather", state, sendbuf,
                          own_block_side(sendbuf, sendcount, sendtype),
                          {recvbuf, {recvtype}, recvcount});
  };
  const auto bytes = [&] { return bytes_received(comm, recvcount, recvtype); };
  return carry_out(comm, bytes, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count* recvcounts, const Displacement* displs, MPI_Datatype recvtype,
               MPI_Comm comm, RealCall real_call) {
  const auto call = [&](const CommState& state) {
    return allgather_call(
        "MPI_Allgatherv", state, sendbuf, own_block_side(sendbuf, sendcount, sendtype),
        placed_side(recvbuf, size_t(state.placement.ranks()), recvcounts, displs, recvtype));
  };
  return carry_out(comm, no_bytes_known, call, real_call);
}

}  // namespace

int on_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int on_Allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int on_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                  MPI_Comm comm) {
  return allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, [&] {
    return real().Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                             comm);
  });
}

int on_Allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    MPI_Comm comm) {
  return allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, [&] {
    return real().Allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                               comm);
  });
}

}  // namespace haichi::mpi
