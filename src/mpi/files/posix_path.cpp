#include "mpi/files/posix_path.h"

namespace haichi::mpi {

std::optional<std::string> posix_path(std::string_view filename) {
  constexpr std::string_view kPosixDrivers[] = {"ufs:", "lustre:", "xfs:"};
  for (std::string_view prefix : kPosixDrivers)
    if (filename.starts_with(prefix)) return std::string(filename.substr(prefix.size()));
  // ROMIO's rule: a driver's name stands before the first colon; a slash before it is a path.
  const size_t colon = filename.find(':'), slash = filename.find('/');
  if (colon != filename.npos && colon > 1 && (slash == filename.npos || colon < slash))
    return std::nullopt;
  return std::string(filename);
}

}  // namespace haichi::mpi
