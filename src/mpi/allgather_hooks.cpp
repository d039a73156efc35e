// Hooks of the blocking all-gather collectives.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/exchange_call.h"

namespace haichi::mpi {
namespace {

using collectives::Kind;

ExchangeSide one_block(const void* buffer, int64_t count, MPI_Datatype type) {
  ExchangeSide side{const_cast<void*>(buffer), {type}, count};
  side.one_block = true;
  return side;
}

template <class Count, class RealCall>
int allgather(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
              Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, RealCall real_call) {
  CommState* const state = comm_state(comm);
  // What is wrong with the arguments is for the library to say.
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (state == nullptr || (!in_place && sendcount < 0) || recvcount < 0) return real_call();
  const ExchangeCall call{"MPI_Allgather",
                          one_block(sendbuf, sendcount, sendtype),
                          {recvbuf, {recvtype}, recvcount},
                          Kind::all_gather,
                          in_place};
  return run_exchange(comm, *state, call, real_call);
}

template <class Count, class Displacement, class RealCall>
int allgatherv(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
               const Count* recvcounts, const Displacement* displs, MPI_Datatype recvtype,
               MPI_Comm comm, RealCall real_call) {
  CommState* const state = comm_state(comm);
  const bool in_place = sendbuf == MPI_IN_PLACE;
  if (state == nullptr || (!in_place && sendcount < 0)) return real_call();
  const int ranks = state->placement.ranks();
  const ExchangeCall call{
      "MPI_Allgatherv",
      one_block(sendbuf, sendcount, sendtype),
      {recvbuf, {recvtype}, 0, {recvcounts, recvcounts + ranks}, {displs, displs + ranks}},
      Kind::all_gather,
      in_place};
  if (call.receive.has_negative_count()) return real_call();
  return run_exchange(comm, *state, call, real_call);
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
