// What the launcher (mpiexec, srun) says in the environment about the job, before MPI_Init.
#pragma once

#include <optional>
#include <string>

#include "launch/environment.h"
#include "launch/mpi_library.h"

namespace haichi::launch {

struct Job {
  std::optional<Abi> abi;  ///< the MPI whose launcher this is; nothing if it starts any MPI
  std::string launcher;    ///< how messages call it, e.g. "Open MPI's mpiexec"; empty if none seen
  int ranks = 0;           ///< 0 if not known
  int rank = 0;            ///< 0 if not known
  int ranks_here = 0;      ///< on this node; 0 if not known
};

/// srun and other launchers that start any MPI leave `abi` empty, as do the traces of two launchers
/// (a job started inside a job).
Job job_from(const Environment& environment);

}  // namespace haichi::launch
