// Hooks of the nonblocking and persistent all-to-alls among neighbours.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_forms.h"
#include "mpi/neighbour_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Neighbours;

/// `call(neighbours)` is the program's as an exchange. All are passed through alike where a rank is
/// a neighbour more than once: the nonblocking forms of Open MPI 4.1 and 5.0 receive in order in a
/// grid, other than its blocking ones.
template <class Call, class RealCall>
int run(const ExchangeForm& form, const void* sendbuf, MPI_Comm comm, MPI_Request* request,
        Call call, RealCall real_call) {
  const auto among = [&](const CommPeers& peers) -> std::optional<ExchangeCall> {
    const Neighbours* const neighbours =
        neighbours_for(NeighbourCall::alltoallv, sendbuf, peers.neighbourhood);
    return neighbours ? call(*neighbours) : std::nullopt;
  };
  return begin_exchange(form, comm, request, among, real_call);
}

template <class Count, class RealCall>
int alltoall(const ExchangeForm& form, const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
             void* recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
             MPI_Request* request, RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_alltoall_call(form.name, neighbours, sendbuf, sendcount, sendtype, recvbuf,
                                   recvcount, recvtype);
  };
  return run(form, sendbuf, comm, request, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int alltoallv(const ExchangeForm& form, const void* sendbuf, const Count* sendcounts,
              const Displacement* sdispls, MPI_Datatype sendtype, void* recvbuf,
              const Count* recvcounts, const Displacement* rdispls, MPI_Datatype recvtype,
              MPI_Comm comm, MPI_Request* request, RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_alltoallv_call(form.name, neighbours, sendbuf, sendcounts, sdispls, sendtype,
                                    recvbuf, recvcounts, rdispls, recvtype);
  };
  return run(form, sendbuf, comm, request, call, real_call);
}

template <class Count, class RealCall>
int alltoallw(const ExchangeForm& form, const void* sendbuf, const Count* sendcounts,
              const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
              const Count* recvcounts, const MPI_Aint* rdispls, const MPI_Datatype* recvtypes,
              MPI_Comm comm, MPI_Request* request, RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_alltoallw_call(form.name, neighbours, sendbuf, sendcounts, sdispls, sendtypes,
                                    recvbuf, recvcounts, rdispls, recvtypes);
  };
  return run(form, sendbuf, comm, request, call, real_call);
}

constexpr ExchangeForm kIalltoall{"MPI_Ineighbor_alltoall", start_exchange};
constexpr ExchangeForm kIalltoallv{"MPI_Ineighbor_alltoallv", start_exchange};
constexpr ExchangeForm kIalltoallw{"MPI_Ineighbor_alltoallw", start_exchange};
constexpr ExchangeForm kAlltoallInit{"MPI_Neighbor_alltoall_init", make_persistent_exchange};
constexpr ExchangeForm kAlltoallvInit{"MPI_Neighbor_alltoallv_init", make_persistent_exchange};
constexpr ExchangeForm kAlltoallwInit{"MPI_Neighbor_alltoallw_init", make_persistent_exchange};

}  // namespace

int on_Ineighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Request* request) {
  return alltoall(kIalltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                  request, [&] {
                    return real().Ineighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf,
                                                     recvcount, recvtype, comm, request);
                  });
}

int on_Ineighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm, MPI_Request* request) {
  return alltoall(kIalltoall, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                  request, [&] {
                    return real().Ineighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf,
                                                       recvcount, recvtype, comm, request);
                  });
}

int on_Ineighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Request* request) {
  return alltoallv(kIalltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                   rdispls, recvtype, comm, request, [&] {
                     return real().Ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype,
                                                       recvbuf, recvcounts, rdispls, recvtype, comm,
                                                       request);
                   });
}

int on_Ineighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                             const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return alltoallv(kIalltoallv, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                   rdispls, recvtype, comm, request, [&] {
                     return real().Ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype,
                                                         recvbuf, recvcounts, rdispls, recvtype,
                                                         comm, request);
                   });
}

int on_Ineighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                           const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                           MPI_Request* request) {
  return alltoallw(kIalltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                   rdispls, recvtypes, comm, request, [&] {
                     return real().Ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes,
                                                       recvbuf, recvcounts, rdispls, recvtypes,
                                                       comm, request);
                   });
}

int on_Ineighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                             const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                             const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request* request) {
  return alltoallw(kIalltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                   rdispls, recvtypes, comm, request, [&] {
                     return real().Ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes,
                                                         recvbuf, recvcounts, rdispls, recvtypes,
                                                         comm, request);
                   });
}

int on_Neighbor_alltoall_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype,
                              void* recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                              MPI_Info info, MPI_Request* request) {
  return alltoall(kAlltoallInit, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                  request, [&] {
                    return real().Neighbor_alltoall_init(sendbuf, sendcount, sendtype, recvbuf,
                                                         recvcount, recvtype, comm, info, request);
                  });
}

int on_Neighbor_alltoall_init_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return alltoall(kAlltoallInit, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm,
                  request, [&] {
                    return real().Neighbor_alltoall_init_c(sendbuf, sendcount, sendtype, recvbuf,
                                                           recvcount, recvtype, comm, info,
                                                           request);
                  });
}

int on_Neighbor_alltoallv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                               MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                               const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                               MPI_Info info, MPI_Request* request) {
  return alltoallv(kAlltoallvInit, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                   rdispls, recvtype, comm, request, [&] {
                     return real().Neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype,
                                                           recvbuf, recvcounts, rdispls, recvtype,
                                                           comm, info, request);
                   });
}

int on_Neighbor_alltoallv_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                 const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  return alltoallv(kAlltoallvInit, sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                   rdispls, recvtype, comm, request, [&] {
                     return real().Neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype,
                                                             recvbuf, recvcounts, rdispls, recvtype,
                                                             comm, info, request);
                   });
}

int on_Neighbor_alltoallw_init(const void* sendbuf, const int sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void* recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
                               const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                               MPI_Request* request) {
  return alltoallw(kAlltoallwInit, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                   rdispls, recvtypes, comm, request, [&] {
                     return real().Neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes,
                                                           recvbuf, recvcounts, rdispls, recvtypes,
                                                           comm, info, request);
                   });
}

int on_Neighbor_alltoallw_init_c(const void* sendbuf, const MPI_Count sendcounts[],
                                 const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                 void* recvbuf, const MPI_Count recvcounts[],
                                 const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                 MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return alltoallw(kAlltoallwInit, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                   rdispls, recvtypes, comm, request, [&] {
                     return real().Neighbor_alltoallw_init_c(
                         sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                         recvtypes, comm, info, request);
                   });
}

}  // namespace haichi::mpi
