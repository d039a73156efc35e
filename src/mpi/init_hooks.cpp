// Hooks of the start and the end of the MPI program.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/runtime.h"

namespace haichi::mpi {

int on_Init(int* argc, char*** argv) {
  const int result = real().Init(argc, argv);
  if (result == MPI_SUCCESS) Runtime::start();
  return result;
}

int on_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = real().Init_thread(argc, argv, required, provided);
  if (result == MPI_SUCCESS) Runtime::start();
  return result;
}

int on_Finalize() {
  Runtime::stop();
  return real().Finalize();
}

}  // namespace haichi::mpi
