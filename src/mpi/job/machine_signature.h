// What tells the machine of this job apart from others.
#pragma once

#include "machine/profile.h"
#include "placement/placement.h"

namespace haichi::mpi {

/// Of the node of the caller, and the names of all nodes.
machine::Signature signature_of(const placement::Placement& world);

}  // namespace haichi::mpi
