// Hooks of the nonblocking all-to-all collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_arguments.h"
#include "mpi/nonblocking_exchange.h"

namespace haichi::mpi {
namespace {

template <class Count, class RealCall>
int ialltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request,
              RealCall real_call) {
  const auto peers = peers_of(comm);
  if (!peers) return real_call();
  const auto call =
      alltoall_call("MPI_Ialltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  return call ? start_exchange(comm, peers, *call, request, real_call) : real_call();
}

template <class Count, class Displacement, class RealCall>
int ialltoallv(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
               MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
               const Displacement* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
               MPI_Request* request, RealCall real_call) {
  const auto peers = peers_of(comm);
  if (!peers) return real_call();
  const auto call = alltoallv_call("MPI_Ialltoallv", peers->placement.ranks(), sendbuf, sendcounts,
                                   sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
  return call ? start_exchange(comm, peers, *call, request, real_call) : real_call();
}

template <class Count, class Displacement, class RealCall>
int ialltoallw(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
               const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
               const Displacement* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
               MPI_Request* request, RealCall real_call) {
  const auto peers = peers_of(comm);
  if (!peers) return real_call();
  const auto call = alltoallw_call("MPI_Ialltoallw", peers->placement.ranks(), sendbuf, sendcounts,
                                   sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
  return call ? start_exchange(comm, peers, *call, request, real_call) : real_call();
}

}  // namespace

int on_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, [&] {
    return real().Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                            request);
  });
}

int on_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request* request) {
  return ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, [&] {
    return real().Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                              request);
  });
}

int on_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                    comm, request, [&] {
                      return real().Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                               recvcounts, rdispls, recvtype, comm, request);
                    });
}

int on_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
  return ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                    comm, request, [&] {
                      return real().Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                 recvcounts, rdispls, recvtype, comm, request);
                    });
}

int on_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                  MPI_Request* request) {
  return ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, comm, request, [&] {
                      return real().Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                               recvcounts, rdispls, recvtypes, comm, request);
                    });
}

int on_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request* request) {
  return ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                    recvtypes, comm, request, [&] {
                      return real().Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                                 recvcounts, rdispls, recvtypes, comm, request);
                    });
}

}  // namespace haichi::mpi
