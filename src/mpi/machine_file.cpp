#include "mpi/machine_file.h"

#include <errno.h>

#include "base/os.h"
#include "machine/profile.h"
#include "mpi/shared_text.h"

namespace haichi::mpi {

Result<std::optional<machine::Machine>> read_machine(MPI_Comm comm, int rank,
                                                     const std::string& path) {
  if (path.empty()) return std::nullopt;
  auto read = rank == 0 ? read_file(path) : Result<std::string>("");
  const std::string text = shared_text(comm, read ? std::move(*read) : std::string());
  auto profile = machine::parse_profile(text);
  if (profile) return std::move(profile->machine);
  return fail(EINVAL, "collectives do not know the machine: {}",
              read ? fmt::format("{}: {}", path, profile.error().text) : read.error().text);
}

}  // namespace haichi::mpi
