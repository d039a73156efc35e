// What messages and file accesses cost on this machine: from a file that the user names (the
// setting "machine"), or that is found.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>

#include "base/settings.h"
#include "machine/machine.h"
#include "placement/placement.h"
#include "report/header.h"

namespace haichi::mpi {

struct KnownMachine {
  std::optional<machine::Machine> machine;  ///< nothing: defaults count. The same on all ranks
  report::MachineUse use;                   ///< filled in on rank 0
  std::string problem;                      ///< what to say of it once; on rank 0
};

/// A file that the user names is used whatever it is of, with a word if it is of another machine;
/// one that is damaged is not. Else one is looked for, unless machines.find is off. Rank 0 reads.
/// Collective over `comm`.
KnownMachine know_machine(MPI_Comm comm, int rank, const Settings& settings,
                          const placement::Placement& world);

}  // namespace haichi::mpi
