// Hooks of the blocking all-to-alls and all-gathers among neighbours.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/exchange_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Neighbours;

// The state for a call, or null if the call is the MPI library's.
CommState* state_for(MPI_Comm comm, const void* sendbuf, NeighbourCall call) {
  CommState* const state = comm_state(comm);
  const bool taken = state != nullptr && sendbuf != MPI_IN_PLACE && state->neighbourhood &&
                     state->neighbourhood->matches_alike(call);
  return taken ? state : nullptr;
}

// Blocks one after the other.
template <class Count>
ExchangeSide row_side(const void* buffer, size_t blocks, Count count, MPI_Datatype type) {
  ExchangeSide side{const_cast<void*>(buffer), {type}};
  for (size_t place = 0; place < blocks; ++place) {
    side.counts.push_back(count);
    side.at.push_back(int64_t(place) * count);
  }
  return side;
}

// One block, for so many.
template <class Count>
ExchangeSide copies_side(const void* buffer, size_t copies, Count count, MPI_Datatype type) {
  ExchangeSide side = one_block_side(buffer, count, type);
  side.counts.assign(copies, count);
  return side;
}

// Nobody's block has no bytes, whatever the program says of it.
void leave_out_nobody(ExchangeSide& side, const std::vector<int>& ranks) {
  for (size_t place = 0; place < ranks.size(); ++place) {
    if (ranks[place] != Neighbours::kNobody) continue;
    side.counts[place] = 0;
    if (side.at_bytes) side.types[place] = handles().byte;
  }
}

template <class RealCall>
int run(MPI_Comm comm, CommState& state, const char* name, ExchangeSide send, ExchangeSide receive,
        RealCall real_call) {
  const Neighbours& neighbours = state.neighbourhood->neighbours;
  leave_out_nobody(send, neighbours.destinations);
  leave_out_nobody(receive, neighbours.sources);
  const auto call =
      sound({name, std::move(send), std::move(receive), collectives::Kind::neighbours});
  return call ? run_exchange(comm, state, *call, real_call) : real_call();
}

template <class Count, class RealCall>
int alltoall(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
             Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf, NeighbourCall::alltoall);
  if (state == nullptr) return real_call();
  const auto& [sources, destinations, order] = state->neighbourhood->neighbours;
  return run(comm, *state, "MPI_Neighbor_alltoall",
             row_side(sendbuf, destinations.size(), sendcount, sendtype),
             row_side(recvbuf, sources.size(), recvcount, recvtype), real_call);
}

template <class Count, class Displacement, class RealCall>
int alltoallv(const void* sendbuf, const Count* sendcounts, const Displacement* sdispls,
              MPI_Datatype sendtype, void* recvbuf, const Count* recvcounts,
              const Displacement* rdispls, MPI_Datatype recvtype, MPI_Comm comm,
              RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf, NeighbourCall::alltoallv);
  if (state == nullptr) return real_call();
  const auto& [sources, destinations, order] = state->neighbourhood->neighbours;
  return run(comm, *state, "MPI_Neighbor_alltoallv",
             placed_side(sendbuf, destinations.size(), sendcounts, sdispls, sendtype),
             placed_side(recvbuf, sources.size(), recvcounts, rdispls, recvtype), real_call);
}

template <class Count, class RealCall>
int alltoallw(const void* sendbuf, const Count* sendcounts, const MPI_Aint* sdispls,
              const MPI_Datatype* sendtypes, void* recvbuf, const Count* recvcounts,
              const MPI_Aint* rdispls, const MPI_Datatype* recvtypes, MPI_Comm comm,
              RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf, NeighbourCall::alltoallv);
  if (state == nullptr) return real_call();
  const auto& [sources, destinations, order] = state->neighbourhood->neighbours;
  return run(comm, *state, "MPI_Neighbor_alltoallw",
             typed_side(sendbuf, destinations.size(), sendcounts, sdispls, sendtypes),
             typed_side(recvbuf, sources.size(), recvcounts, rdispls, recvtypes), real_call);
}

template <class Count, class RealCall>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf, NeighbourCall::allgather);
  if (state == nullptr) return real_call();
  const auto& [sources, destinations, order] = state->neighbourhood->neighbours;
  return run(comm, *state, "MPI_Neighbor_allgather",
             copies_side(sendbuf, destinations.size(), sendcount, sendtype),
             row_side(recvbuf, sources.size(), recvcount, recvtype), real_call);
}

template <class Count, class Displacement, class RealCall>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count* recvcounts, const Displacement* displs, MPI_Datatype recvtype,
               MPI_Comm comm, RealCall real_call) {
  CommState* const state = state_for(comm, sendbuf, NeighbourCall::allgather);
  if (state == nullptr) return real_call();
  const auto& [sources, destinations, order] = state->neighbourhood->neighbours;
  return run(comm, *state, "MPI_Neighbor_allgatherv",
             copies_side(sendbuf, destinations.size(), sendcount, sendtype),
             placed_side(recvbuf, sources.size(), recvcounts, displs, recvtype), real_call);
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
