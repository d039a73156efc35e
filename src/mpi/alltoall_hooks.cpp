// Hooks of the blocking all-to-all collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_arguments.h"

namespace haichi::mpi {
namespace {

// A call in place is never taken, and so no reason to make a state.
template <class Bytes, class Call, class RealCall>
int unless_in_place(const void* sendbuf, MPI_Comm comm, Bytes bytes, Call call,
                    RealCall real_call) {
  return sendbuf == MPI_IN_PLACE ? real_call() : carry_out(comm, bytes, call, real_call);
}

template <class Count, class RealCall>
int alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  const auto call = [&](const CommState&) {
    return alltoall_call("MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount,
                         recvtype);
  };
  const auto bytes = [&] { return bytes_received(comm, recvcount, recvtype); };
  return unless_in_place(sendbuf, comm, bytes, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int alltoallv(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
              MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
              const Displacement* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
              RealCall real_call) {
  const auto call = [&](const CommState& state) {
    return alltoallv_call("MPI_Alltoallv", state.placement.ranks(), sendbuf, sendcounts, sdispls,
                          sendtype, recvbuf, recvcounts, rdispls, recvtype);
  };
  return unless_in_place(sendbuf, comm, no_bytes_known, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int alltoallw(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
              const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
              const Displacement* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
              RealCall real_call) {
  const auto call = [&](const CommState& state) {
    return alltoallw_call("MPI_Alltoallw", state.placement.ranks(), sendbuf, sendcounts, sdispls,
                          sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
  };
  return unless_in_place(sendbuf, comm, no_bytes_known, call, real_call);
}

}  // namespace

int on_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int on_Alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
  });
}

int on_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                 MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                 MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                   comm, [&] {
                     return real().Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                             recvcounts, rdispls, recvtype, comm);
                   });
}

int on_Alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                   MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                   comm, [&] {
                     return real().Alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                               recvcounts, rdispls, recvtype, comm);
                   });
}

int on_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                 const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                 const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                   comm, [&] {
                     return real().Alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                             recvcounts, rdispls, recvtypes, comm);
                   });
}

int on_Alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
                   comm, [&] {
                     return real().Alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                               recvcounts, rdispls, recvtypes, comm);
                   });
}

}  // namespace haichi::mpi
