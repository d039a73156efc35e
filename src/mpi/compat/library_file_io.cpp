#include "mpi/compat/library_file_io.h"

#include <stdlib.h>

#include <string_view>

#include "mpi/compat/library_version.h"

namespace haichi::mpi {
namespace {

mpiio::LibraryFileIo found() {
  const std::string version = library_version();
  if (version.find("Open MPI") == version.npos) return {.alone_if_apart = true};  // ROMIO
  const char* const component = getenv("OMPI_MCA_io");
  if (component && std::string_view(component).starts_with("romio"))
    return {.alone_if_apart = true};
  // OMPIO. Up to 4.1 it writes every piece by itself and takes no lock; 5.0 may sieve, and locks.
  return {.alone_if_apart = false,
          .splits_alone = true,
          .pairs_alone = true,
          .locks_holes = version.find("Open MPI v4") == version.npos,
          .locks_files = true};
}

}  // namespace

const mpiio::LibraryFileIo& library_file_io() {
  static const mpiio::LibraryFileIo io = found();
  return io;
}

}  // namespace haichi::mpi
