// The all-to-alls of the program that give it a request: nonblocking and persistent ones, which are
// alike but for what is done with the exchange.
#pragma once

#include <mpi.h>

#include <optional>

#include "mpi/exchange_arguments.h"
#include "mpi/nonblocking_exchange.h"
#include "mpi/nonblocking_peers.h"
#include "mpi/persistent_exchange.h"

namespace haichi::mpi {

/// What the program calls, and what haichi does for it.
struct ExchangeForm {
  const char* name;
  decltype(&start_exchange) begin;  ///< or make_persistent_exchange
};

/// `call(peers)` is the program's as an exchange, or nothing if it is the MPI library's.
template <class Call, class RealCall>
int begin_exchange(const ExchangeForm& form, MPI_Comm comm, MPI_Request* request, Call call,
                   RealCall real_call) {
  const auto peers = request ? peers_of(comm) : nullptr;
  const std::optional<ExchangeCall> exchange = peers ? call(*peers) : std::nullopt;
  return exchange ? form.begin(comm, peers, *exchange, request, real_call) : real_call();
}

template <class Count, class RealCall>
int begin_alltoall(const ExchangeForm& form, const void* sendbuf, Count sendcount,
                   MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                   MPI_Comm comm, MPI_Request* request, RealCall real_call) {
  const auto call = [&](const CommPeers&) {
    return alltoall_call(form.name, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  };
  return begin_exchange(form, comm, request, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int begin_alltoallv(const ExchangeForm& form, const void* sendbuf, const Count* sendcounts,
                    const Displacement* sdispls, MPI_Datatype sendtype, void* recvbuf,
                    const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype,
                    MPI_Comm comm, MPI_Request* request, RealCall real_call) {
  const auto call = [&](const CommPeers& peers) {
    return alltoallv_call(form.name, peers.placement.ranks(), sendbuf, sendcounts, sdispls,
                          sendtype, recvbuf, recvcounts, rdispls, recvtype);
  };
  return begin_exchange(form, comm, request, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int begin_alltoallw(const ExchangeForm& form, const void* sendbuf, const Count* sendcounts,
                    const Displacement* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                    const Count* recvcounts, const Displacement* rdispls,
                    const MPI_Datatype* recvtypes, MPI_Comm comm, MPI_Request* request,
                    RealCall real_call) {
  const auto call = [&](const CommPeers& peers) {
    return alltoallw_call(form.name, peers.placement.ranks(), sendbuf, sendcounts, sdispls,
                          sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
  };
  return begin_exchange(form, comm, request, call, real_call);
}

}  // namespace haichi::mpi
