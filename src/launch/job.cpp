#include "launch/job.h"

#include <charconv>

#include "base/rank_variables.h"

namespace haichi::launch {
namespace {

// The first row whose `variable` is set names the launcher. Rows are ordered from the most to the
// least particular: a job of mpiexec inside a Slurm allocation sees Slurm's variables too.
constexpr struct {
  const char* variable;
  std::optional<Abi> abi;
  const char* launcher;
} kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", Abi::openmpi, "Open MPI's mpiexec"},
    {"HYDI_CONTROL_FD", Abi::mpich, "MPICH's mpiexec"},
    {"MPI_LOCALNRANKS", Abi::mpich, "MPICH's mpiexec"},  // hydra of other makers
    {"MV2_COMM_WORLD_SIZE", Abi::mpich, "MVAPICH's mpiexec"},
    {"SLURM_STEP_ID", {}, "srun"},
    {"FLUX_TASK_RANK", {}, "flux run"},
    {"PALS_RANKID", {}, "PALS"},
    {"PMIX_RANK", {}, "a PMIx launcher"},
    {"PMI_RANK", {}, "a PMI launcher"},
};

int number(const Environment& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto text = environment.get(name);
    int value = 0;
    if (text && std::from_chars(text->data(), text->data() + text->size(), value).ec == std::errc())
      return value;
  }
  return 0;
}

}  // namespace

Job job_from(const Environment& environment) {
  Job job;
  for (const auto& row : kLaunchers) {
    if (!environment.has(row.variable)) continue;
    if (job.launcher.empty()) {
      job.launcher = row.launcher;
      job.abi = row.abi;
    } else if (job.abi && row.abi && *row.abi != *job.abi) {
      job.launcher += std::string(" and ") + row.launcher;
      job.abi.reset();
      break;
    }
  }
  job.ranks = number(environment, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
  job.rank = number(environment, kRankVariables);
  job.ranks_here = number(environment, {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
  return job;
}

}  // namespace haichi::launch
