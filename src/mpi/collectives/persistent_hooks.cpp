// Hooks of the persistent all-to-all collectives, and of what starts and frees persistent requests.
#include "generated/by_alltoall_init.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/collectives/exchange_forms.h"
#include "mpi/collectives/persistent_exchange.h"
#include "mpi/job/abort_job.h"
#include "mpi/requests/operations.h"

namespace haichi::mpi {
namespace {

template <class Call>
int alltoall_init(const Call& call) {
  return begin_alltoall(call, make_persistent_exchange);
}

int start_one(MPI_Request* request) {
  return unless_out_of_memory("the start of a persistent collective", [&] {
    int result = MPI_SUCCESS;
    return start_persistent_exchange(request, result) ? result : real().Start(request);
  });
}

}  // namespace

int on_Start(MPI_Request* request) {
  return persistent_exchanges() ? start_one(request) : real().Start(request);
}

int on_Startall(int count, MPI_Request array_of_requests[]) {
  if (!persistent_exchanges()) return real().Startall(count, array_of_requests);
  int result = MPI_SUCCESS;
  for (int i = 0; i < count && result == MPI_SUCCESS; ++i)
    result = start_one(&array_of_requests[i]);
  return result;
}

int on_Request_free(MPI_Request* request) {
  if (persistent_exchanges()) forget_persistent_exchange(*request);
  if (operations_open()) let_go_of_operation(*request);
  return real().Request_free(request);
}

}  // namespace haichi::mpi
