// Where a process reads its rank before MPI has told it.
#pragma once

#include <initializer_list>

namespace haichi {

/// The variables in which launchers tell a process its rank; of several the first one counts.
inline constexpr std::initializer_list<const char*> kRankVariables = {
    "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};

}  // namespace haichi
