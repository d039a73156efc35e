// Hooks of the nonblocking all-to-all collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_forms.h"

namespace haichi::mpi {
namespace {

constexpr ExchangeForm kIalltoall{"MPI_Ialltoall", start_exchange};
constexpr ExchangeForm kIalltoallv{"MPI_Ialltoallv", start_exchange};
constexpr ExchangeForm kIalltoallw{"MPI_Ialltoallw", start_exchange};

}  // namespace

int on_Ialltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return begin_alltoall(kIalltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                        comm, request, [&] {
                          return real().Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                  recvtype, comm, request);
                        });
}

int on_Ialltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                   MPI_Request* request) {
  return begin_alltoall(kIalltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                        comm, request, [&] {
                          return real().Ialltoall_c(sendbuf, sendcount, sendtype, recvbuf,
                                                    recvcount, recvtype, comm, request);
                        });
}

int on_Ialltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                  MPI_Datatype sendtype, void* recvbuf, const int recvcounts[], const int rdispls[],
                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return begin_alltoallv(kIalltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                         rdispls, recvtype, comm, request, [&] {
                           return real().Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                                    recvcounts, rdispls, recvtype, comm, request);
                         });
}

int on_Ialltoallv_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                    MPI_Request* request) {
  return begin_alltoallv(kIalltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                         rdispls, recvtype, comm, request, [&] {
                           return real().Ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype,
                                                      recvbuf, recvcounts, rdispls, recvtype, comm,
                                                      request);
                         });
}

int on_Ialltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                  const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                  const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                  MPI_Request* request) {
  return begin_alltoallw(kIalltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                         rdispls, recvtypes, comm, request, [&] {
                           return real().Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes,
                                                    recvbuf, recvcounts, rdispls, recvtypes, comm,
                                                    request);
                         });
}

int on_Ialltoallw_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                    const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                    MPI_Request* request) {
  return begin_alltoallw(kIalltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                         rdispls, recvtypes, comm, request, [&] {
                           return real().Ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes,
                                                      recvbuf, recvcounts, rdispls, recvtypes, comm,
                                                      request);
                         });
}

}  // namespace haichi::mpi
