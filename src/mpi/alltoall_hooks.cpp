// Hooks of the blocking all-to-all collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_arguments.h"

namespace haichi::mpi {
namespace {

// A call in place is never taken, and so no reason to make a state.
CommState* state_for(MPI_Comm comm, const void* sendbuf) {
  return sendbuf == MPI_IN_PLACE ? nullptr : comm_state(comm);
}

template <class Count, class RealCall>
int alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf);
  if (state == nullptr) return real_call();
  const auto call =
      alltoall_call("MPI_Alltoall", sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
  return call ? run_exchange(comm, *state, *call, real_call) : real_call();
}

template <class Count, class Displacement, class RealCall>
int alltoallv(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
              MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
              const Displacement* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
              RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf);
  if (state == nullptr) return real_call();
  const auto call = alltoallv_call("MPI_Alltoallv", state->placement.ranks(), sendbuf, sendcounts,
                                   sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
  return call ? run_exchange(comm, *state, *call, real_call) : real_call();
}

template <class Count, class Displacement, class RealCall>
int alltoallw(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
              const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
              const Displacement* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
              RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf);
  if (state == nullptr) return real_call();
  const auto call = alltoallw_call("MPI_Alltoallw", state->placement.ranks(), sendbuf, sendcounts,
                                   sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
  return call ? run_exchange(comm, *state, *call, real_call) : real_call();
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
