// Where the nodes of a job sit in the network of a machine.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include "base/result.h"
#include "machine/machine.h"
#include "placement/placement.h"

namespace haichi::sim {

/// Gives each node of the placement the place that its address names (topology/seats.h), unless the
/// machine says itself which place each has, or an address is missing. Fails with EINVAL if an
/// address is no place of this network, or another node's.
Status seat_nodes(machine::Machine& machine, const placement::Placement& placement);

}  // namespace haichi::sim
