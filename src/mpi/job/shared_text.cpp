#include "mpi/job/shared_text.h"

#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

std::string shared_text(MPI_Comm comm, std::string of_rank_0) {
  int64_t size = int64_t(of_rank_0.size());
  if (real().Bcast(&size, 1, handles().int64, 0, comm) != MPI_SUCCESS || size == 0) return "";
  of_rank_0.resize(size_t(size));
  if (real().Bcast(of_rank_0.data(), int(size), handles().byte, 0, comm) != MPI_SUCCESS) return "";
  return of_rank_0;
}

}  // namespace haichi::mpi
