#include "mpi/compat/fjmpi.h"

#include <dlfcn.h>
#include <fmt/ranges.h>

namespace haichi::mpi {
namespace {

// As <mpi-ext.h> has it: the coordinates in the whole system, not those within the job.
constexpr int kTofuSys = 1;
constexpr int kDimensions = 6;

using GetCoords = int (*)(MPI_Comm comm, int rank, int view, int maxdims, int coords[]);

}  // namespace

std::string fjmpi_address(MPI_Comm comm, int rank) {
  const auto get = reinterpret_cast<GetCoords>(dlsym(RTLD_DEFAULT, "FJMPI_Topology_get_coords"));
  int coords[kDimensions] = {};
  if (get == nullptr || get(comm, rank, kTofuSys, kDimensions, coords) != MPI_SUCCESS) return "";
  return fmt::format("{}", fmt::join(coords, ","));
}

}  // namespace haichi::mpi
