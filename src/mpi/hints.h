// Reading MPI_Info objects.
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

namespace haichi::mpi {

/// All keys and values; empty for MPI_INFO_NULL.
std::vector<std::pair<std::string, std::string>> hints_of(MPI_Info info);

/// True for hints of ROMIO or the MPI standard that haichi knows but does not act on (the report
/// lists them as ignored); the MPI library still gets them.
bool is_unserved_hint(const std::string& key);

}  // namespace haichi::mpi
