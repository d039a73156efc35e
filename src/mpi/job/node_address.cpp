#include "mpi/job/node_address.h"

#include "mpi/compat/fjmpi.h"
#include "placement/host.h"

namespace haichi::mpi {
namespace {

using Source = std::string (*)(MPI_Comm comm, int rank);

std::string from_environment(MPI_Comm, int) { return placement::this_address(); }

constexpr Source kSources[] = {from_environment, fjmpi_address};

}  // namespace

std::string node_address(MPI_Comm comm, int rank) {
  for (const Source ask : kSources)
    if (std::string answer = ask(comm, rank); !answer.empty()) return answer;
  return "";
}

}  // namespace haichi::mpi
