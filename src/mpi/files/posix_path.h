// The names that MPI_File_open takes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace haichi::mpi {

/// The path that the operating system knows a file by: without a prefix that names a plain POSIX
/// driver of ROMIO (ufs:, lustre:, xfs:). Nothing if the prefix names any other driver.
std::optional<std::string> posix_path(std::string_view filename);

}  // namespace haichi::mpi
