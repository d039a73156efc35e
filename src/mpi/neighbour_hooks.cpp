// Hooks of the blocking all-to-alls and all-gathers among neighbours.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/neighbour_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Neighbours;

/// `call(neighbours)` is the program's as an exchange.
template <class Call, class RealCall>
int run(MPI_Comm comm, NeighbourCall kind, const void* sendbuf, Call call, RealCall real_call) {
  const auto among = [&](const CommState& state) -> std::optional<ExchangeCall> {
    const Neighbours* const neighbours = neighbours_for(kind, sendbuf, state.neighbourhood);
    return neighbours ? call(*neighbours) : std::nullopt;
  };
  return carry_out(comm, no_bytes_known, among, real_call);
}

template <class Count, class RealCall>
int alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_alltoall_call("MPI_Neighbor_alltoall", neighbours, sendbuf, sendcount,
                                   sendtype, recvbuf, recvcount, recvtype);
  };
  return run(comm, NeighbourCall::alltoall, sendbuf, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int alltoallv(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
              MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
              const Displacement* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
              RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_alltoallv_call("MPI_Neighbor_alltoallv", neighbours, sendbuf, sendcounts,
                                    sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
  };
  return run(comm, NeighbourCall::alltoallv, sendbuf, call, real_call);
}

template <class Count, class RealCall>
int alltoallw(const void* sendbuf, const Count* sendcounts, const MPI_Aint* sdispls,
              const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
              const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
              RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_alltoallw_call("MPI_Neighbor_alltoallw", neighbours, sendbuf, sendcounts,
                                    sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
  };
  return run(comm, NeighbourCall::alltoallv, sendbuf, call, real_call);
}

template <class Count, class RealCall>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_call("MPI_Neighbor_allgather", neighbours,
                          copies_side(sendbuf, neighbours.destinations.size(), sendcount, sendtype),
                          row_side(recvbuf, neighbours.sources.size(), recvcount, recvtype));
  };
  return run(comm, NeighbourCall::allgather, sendbuf, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count* recvcounts, const Displacement* displs, MPI_Datatype recvtype,
               MPI_Comm comm, RealCall real_call) {
  const auto call = [&](const Neighbours& neighbours) {
    return neighbour_call(
        "MPI_Neighbor_allgatherv", neighbours,
        copies_side(sendbuf, neighbours.destinations.size(), sendcount, sendtype),
        placed_side(recvbuf, neighbours.sources.size(), recvcounts, displs, recvtype));
  };
  return run(comm, NeighbourCall::allgather, sendbuf, call, real_call);
}

}  // namespace

int on_Neighbor_alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                         int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Neighbor_alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                    comm);
  });
}

int on_Neighbor_alltoall_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Neighbor_alltoall_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                      comm);
  });
}

int on_Neighbor_alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                          MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                          const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                   comm, [&] {
                     return real().Neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype,
                                                      recvbuf, recvcounts, rdispls, recvtype, comm);
                   });
}

int on_Neighbor_alltoallv_c(const void* sendbuf, const MPI_Count sendcounts[],
                            const MPI_Aint sdispls[], MPI_Datatype sendtype, void* recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                            MPI_Datatype recvtype, MPI_Comm comm) {
  return alltoallv(
      sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, [&] {
        return real().Neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                           recvcounts, rdispls, recvtype, comm);
      });
}

int on_Neighbor_alltoallw(const void* sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[],
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoallw(
      sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, [&] {
        return real().Neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                         recvcounts, rdispls, recvtypes, comm);
      });
}

int on_Neighbor_alltoallw_c(const void* sendbuf, const MPI_Count sendcounts[],
                            const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void* recvbuf,
                            const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                            const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return alltoallw(
      sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, [&] {
        return real().Neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                           recvcounts, rdispls, recvtypes, comm);
      });
}

int on_Neighbor_allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Neighbor_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                     comm);
  });
}

int on_Neighbor_allgather_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                            void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                            MPI_Comm comm) {
  return allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, [&] {
    return real().Neighbor_allgather_c(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                       comm);
  });
}

int on_Neighbor_allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                           MPI_Comm comm) {
  return allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, [&] {
    return real().Neighbor_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                      recvtype, comm);
  });
}

int on_Neighbor_allgatherv_c(const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void* recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                             MPI_Datatype recvtype, MPI_Comm comm) {
  return allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, [&] {
    return real().Neighbor_allgatherv_c(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                        recvtype, comm);
  });
}

}  // namespace haichi::mpi
