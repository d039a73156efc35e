// What the figures of a launch depend on besides MPI calls: the first line of its part of the file.
#pragma once

#include <mpi.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/points.h"
#include "placement/placement.h"

namespace haichi::measure {

/// The job's ranks and how they lie; the same on all ranks.
struct JobFacts {
  int rank = 0, ranks = 0;
  placement::Placement placement;
  std::vector<int> host_cores;     ///< of each rank's host
  std::vector<int> allowed_cores;  ///< that each rank may run on
  bool bound_here = false;         ///< by job_facts(), on some node
  double init_seconds = 0;         ///< that MPI_Init took, on the slowest rank

  JobShape shape() const { return {ranks, pairs_by_class(placement, host_cores)}; }
  /// Whether a node has more ranks than cores that these may run on, in all.
  bool oversubscribed() const;
};

/// Collective over MPI_COMM_WORLD. With `bind`, ranks of a node that may run on all of its cores
/// are bound to one each, if there are enough: else a kernel may put two that talk on one core.
Result<JobFacts> job_facts(double init_seconds, int host_cores, bool bind);

/// Cost and resolution of the clock of the samples and of MPI_Wtime, seconds.
struct ClockFacts {
  double cost, resolution, wtime_cost, wtime_resolution;
};
ClockFacts clock_facts();

/// The launch record of rank 0; `kind` is "launch". Files are made in `directory`.
nlohmann::ordered_json launch_record(const JobFacts& job, const ClockFacts& clock,
                                     const std::string& directory);

}  // namespace haichi::measure
