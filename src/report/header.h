// What a report says of the job as a whole.
#pragma once

#include <cstdint>
#include <string>

#include "base/settings.h"
#include "placement/placement.h"

namespace haichi::report {

/// By which numbers of the machine it was planned.
struct MachineUse {
  enum class Kind { defaults, named, found };
  Kind kind = Kind::defaults;
  std::string file;  ///< empty: defaults
  std::string name;  ///< of the profile, for people; may be empty
  std::string made;  ///< when; may be empty
  std::string why;   ///< in words
};

/// What is the same on all ranks, or known to rank 0.
struct Job {
  std::string command;
  std::string id;  ///< of the batch system; empty: none
  int64_t started_unix_s = 0;
  double wall_s = 0;
  std::string abi, library;  ///< of MPI
  const placement::Placement& world;
  const Settings& settings;
  MachineUse machine = {};
};

/// As JSON: program, MPI, placement, settings. Where each rank sits inside its node is left out of
/// large jobs.
std::string header(const Job& job);

}  // namespace haichi::report
