// Hooks of the blocking all-gather collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_arguments.h"

namespace haichi::mpi {
namespace {

using collectives::Kind;

template <class Count, class RealCall>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  CommState* const state = comm_state(comm);
  if (state == nullptr) return real_call();
  const auto call = sound({"MPI_Allgather",
                           one_block_side(sendbuf, sendcount, sendtype),
                           {recvbuf, {recvtype}, recvcount},
                           Kind::all_gather,
                           sendbuf == MPI_IN_PLACE});
  return call ? run_exchange(comm, *state, *call, real_call) : real_call();
}

template <class Count, class Displacement, class RealCall>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count* recvcounts, const Displacement* displs, MPI_Datatype recvtype,
               MPI_Comm comm, RealCall real_call) {
  CommState* const state = comm_state(comm);
  if (state == nullptr) return real_call();
  const auto call =
      sound({"MPI_Allgatherv", one_block_side(sendbuf, sendcount, sendtype),
             placed_side(recvbuf, size_t(state->placement.ranks()), recvcounts, displs, recvtype),
             Kind::all_gather, sendbuf == MPI_IN_PLACE});
  return call ? run_exchange(comm, *state, *call, real_call) : real_call();
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
