#include "launch/job.h"

#include <gtest/gtest.h>

namespace haichi::launch {
namespace {

Job job(std::vector<const char*> entries) {
  entries.push_back(nullptr);
  return job_from(Environment(entries.data()));
}

// Recorded from MPICH 4.0.2.
TEST(Job, KnowsHydra) {
  const Job j = job({"HYDI_CONTROL_FD=7", "MPI_LOCALNRANKS=1", "MPI_LOCALRANKID=0", "PMI_FD=6",
                     "PMI_RANK=3", "PMI_SIZE=16"});
  EXPECT_EQ(j.abi, Abi::mpich);
  EXPECT_EQ(j.launcher, "MPICH's mpiexec");
  EXPECT_EQ(j.ranks, 16);
  EXPECT_EQ(j.rank, 3);
}

// Recorded from Open MPI 4.1.4.
TEST(Job, KnowsOpenMpi) {
  const Job j = job({"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=1"});
  EXPECT_EQ(j.abi, Abi::openmpi);
  EXPECT_EQ(j.launcher, "Open MPI's mpiexec");
  EXPECT_EQ(j.ranks, 2);
  EXPECT_EQ(j.rank, 1);
}

TEST(Job, DoesNotGuessBehindSrun) {
  const Job j = job({"SLURM_STEP_ID=0", "SLURM_STEP_NUM_TASKS=8", "SLURM_PROCID=5", "PMIX_RANK=5"});
  EXPECT_FALSE(j.abi);
  EXPECT_EQ(j.launcher, "srun");
  EXPECT_EQ(j.ranks, 8);
  EXPECT_EQ(j.rank, 5);
}

TEST(Job, PrefersMpiexecToTheAllocationAroundIt) {
  EXPECT_EQ(job({"SLURM_STEP_ID=0", "HYDI_CONTROL_FD=7", "PMI_RANK=0"}).abi, Abi::mpich);
  EXPECT_EQ(job({"SLURM_STEP_ID=0", "OMPI_COMM_WORLD_SIZE=2"}).abi, Abi::openmpi);
}

TEST(Job, DoesNotGuessWhenOneLauncherRunsInAnother) {
  const Job j = job({"OMPI_COMM_WORLD_SIZE=2", "HYDI_CONTROL_FD=7"});
  EXPECT_FALSE(j.abi);
  EXPECT_EQ(j.launcher, "Open MPI's mpiexec and MPICH's mpiexec");
}

TEST(Job, IsEmptyOutsideOfALauncher) {
  const Job j = job({"PATH=/bin"});
  EXPECT_FALSE(j.abi);
  EXPECT_EQ(j.launcher, "");
  EXPECT_EQ(j.ranks, 0);
}

}  // namespace
}  // namespace haichi::launch
