// Hooks of the nonblocking all-to-all collectives.
#include "generated/by_ialltoall.h"
#include "mpi/collectives/exchange_forms.h"

namespace haichi::mpi {
namespace {

template <class Call>
int ialltoall(const Call& call) {
  return begin_alltoall(call, start_exchange);
}

}  // namespace
}  // namespace haichi::mpi
