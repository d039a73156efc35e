// Hooks of the start and the end of the MPI program.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/collectives/nonblocking_peers.h"
#include "mpi/life/lifetime.h"
#include "mpi/log/run_log.h"

namespace haichi::mpi {

namespace {

int started(int result) {
  if (result != MPI_SUCCESS) return result;
  start_runtime();
  start_nonblocking();
  return result;
}

}  // namespace

int on_Init(int* argc, char*** argv) { return started(real().Init(argc, argv)); }

int on_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return started(real().Init_thread(argc, argv, required, provided));
}

int on_Abort(MPI_Comm comm, int errorcode) {
  log_abort(errorcode);
  return real().Abort(comm, errorcode);
}

int on_Finalize() {
  stop_runtime();
  return real().Finalize();
}

}  // namespace haichi::mpi
