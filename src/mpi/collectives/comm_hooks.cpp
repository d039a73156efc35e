// Hooks of the functions that make communicators. The ranks of a new one are all here, and may wait
// for one another: never again so if it is used for nonblocking collectives only.
#include <tuple>

#include "generated/by_new_communicator.h"
#include "mpi/collectives/nonblocking_peers.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {
namespace {

/// On a rank that is not in the new communicator there is none.
template <class Call>
int new_communicator(const Call& call) {
  const int result = call.real_call();
  MPI_Comm* const made = std::get<MPI_Comm*>(call.arguments());
  if (result == MPI_SUCCESS && *made != handles().comm_null) prepare_nonblocking(*made);
  return result;
}

}  // namespace
}  // namespace haichi::mpi
