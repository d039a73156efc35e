// Reading MPI_Info objects.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace haichi::mpi {

/// All keys and values; empty for MPI_INFO_NULL.
std::vector<std::pair<std::string, std::string>> hints_of(MPI_Info info);

/// The number k of ROMIO's cb_config_list "*:k"; 0 for "*:*", which sets no limit, and for "*:1",
/// which MPI_File_get_info gives where nobody asked; nothing for lists that name hosts.
std::optional<int> ranks_of_each_node(std::string_view list);

/// True for hints of ROMIO or the MPI standard that haichi knows but does not act on (the report
/// lists them as ignored); the MPI library still gets them.
bool is_unserved_hint(const std::string& key);

}  // namespace haichi::mpi
