#include "mpi/compat/library_version.h"

#include <mpi.h>

#include <string_view>

#include "generated/real.h"

namespace haichi::mpi {

#if defined(OPEN_MPI)
const char* const kAbi = "openmpi";
#elif defined(MPI_ABI)
const char* const kAbi = "mpiabi";
#else
const char* const kAbi = "mpich";
#endif

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
  int length = 0;
  real().Get_library_version(text, &length);
  const std::string_view whole(text);
  return std::string(whole.substr(0, whole.find('\n')));
}

}  // namespace haichi::mpi
