// Hooks of the persistent all-to-all collectives, and of what starts and frees persistent requests.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_forms.h"
#include "mpi/operations.h"
#include "mpi/persistent_exchange.h"

namespace haichi::mpi {
namespace {

constexpr ExchangeForm kAlltoallInit{"MPI_Alltoall_init", make_persistent_exchange};
constexpr ExchangeForm kAlltoallvInit{"MPI_Alltoallv_init", make_persistent_exchange};
constexpr ExchangeForm kAlltoallwInit{"MPI_Alltoallw_init", make_persistent_exchange};

}  // namespace

int on_Alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                     int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                     MPI_Request* request) {
  return begin_alltoall(kAlltoallInit, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                        comm, request, [&] {
                          return real().Alltoall_init(sendbuf, sendcount, sendtype, recvbuf,
                                                      recvcount, recvtype, comm, info, request);
                        });
}

int on_Alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                       MPI_Info info, MPI_Request* request) {
  return begin_alltoall(kAlltoallInit, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                        comm, request, [&] {
                          return real().Alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf,
                                                        recvcount, recvtype, comm, info, request);
                        });
}

int on_Alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                      MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                      const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                      MPI_Request* request) {
  return begin_alltoallv(kAlltoallvInit, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                         recvcounts, rdispls, recvtype, comm, request, [&] {
                           return real().Alltoallv_init(sendbuf, sendcounts, sdispls, sendtype,
                                                        recvbuf, recvcounts, rdispls, recvtype,
                                                        comm, info, request);
                         });
}

int on_Alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                        MPI_Datatype sendtype, void* recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
  return begin_alltoallv(kAlltoallvInit, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                         recvcounts, rdispls, recvtype, comm, request, [&] {
                           return real().Alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype,
                                                          recvbuf, recvcounts, rdispls, recvtype,
                                                          comm, info, request);
                         });
}

int on_Alltoallw_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                      const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                      const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Info info, MPI_Request* request) {
  return begin_alltoallw(kAlltoallwInit, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                         recvcounts, rdispls, recvtypes, comm, request, [&] {
                           return real().Alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes,
                                                        recvbuf, recvcounts, rdispls, recvtypes,
                                                        comm, info, request);
                         });
}

int on_Alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                        const MPI_Datatype sendtypes[], void* recvbuf, const MPI_Count recvcounts[],
                        const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                        MPI_Info info, MPI_Request* request) {
  return begin_alltoallw(kAlltoallwInit, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                         recvcounts, rdispls, recvtypes, comm, request, [&] {
                           return real().Alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes,
                                                          recvbuf, recvcounts, rdispls, recvtypes,
                                                          comm, info, request);
                         });
}

int on_Start(MPI_Request* request) {
  int result = MPI_SUCCESS;
  if (persistent_exchanges() && start_persistent_exchange(request, result)) return result;
  return real().Start(request);
}

int on_Startall(int count, MPI_Request array_of_requests[]) {
  if (!persistent_exchanges()) return real().Startall(count, array_of_requests);
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && result == MPI_SUCCESS; ++i)
    if (!start_persistent_exchange(&array_of_requests[i], result))
      result = real().Start(&array_of_requests[i]);
  return result;
}

int on_Request_free(MPI_Request* request) {
  if (persistent_exchanges()) forget_persistent_exchange(*request);
  if (operations_open()) let_go_of_operation(*request);
  return real().Request_free(request);
}

}  // namespace haichi::mpi
