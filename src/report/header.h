// What a report says of the job as a whole.
#pragma once

#include <cstdint>
#include <string>

#include "base/settings.h"
#include "placement/placement.h"

namespace haichi::report {

/// What is the same on all ranks, or known to rank 0.
struct Job {
  std::string command;
  std::string id;  ///< of the batch system; empty: none
  int64_t started_unix_s = 0;
  double wall_s = 0;
  std::string abi, library;  ///< of MPI
  const placement::Placement& world;
  const Settings& settings;
};

/// As JSON: program, MPI, placement, settings. Where each rank sits inside its node is left out of
/// large jobs.
std::string header(const Job& job);

}  // namespace haichi::report
