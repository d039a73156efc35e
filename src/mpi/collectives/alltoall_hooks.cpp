// Hooks of the blocking all-to-all collectives.
#include "generated/by_alltoall.h"
#include "mpi/collectives/exchange_arguments.h"

namespace haichi::mpi {
namespace {

/// A call in place is never taken, and so no reason to make a state.
template <class Call>
int alltoall(const Call& call) {
  if (call.sendbuf == MPI_IN_PLACE) return call.real_call();
  return carry_out(
      call, [&] { return bytes_received(call); },
      [&](const CommState& state) { return alltoall_call(call, state.placement.ranks()); });
}

}  // namespace
}  // namespace haichi::mpi
