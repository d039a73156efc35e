#include "mpi/compat/weights.h"

#include <mpi.h>

#include "generated/real.h"

namespace haichi::mpi {

#if defined(MPI_UNWEIGHTED)

const int* unweighted() { return MPI_UNWEIGHTED; }
const int* weights_empty() { return MPI_WEIGHTS_EMPTY; }

#else

namespace {

const int* named(const char* name) {
  const void* const found = real_symbol(name);
  return found ? *static_cast<const int* const*>(found) : nullptr;
}

}  // namespace

const int* unweighted() {
  static const int* const found = named("MPI_UNWEIGHTED");
  return found;
}
const int* weights_empty() {
  static const int* const found = named("MPI_WEIGHTS_EMPTY");
  return found;
}

#endif

}  // namespace haichi::mpi
