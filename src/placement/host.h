// What one process can say of its own place: host identity, cores, NUMA node.
#pragma once

#include <cstdint>
#include <string>

#include "placement/placement.h"

namespace haichi::placement {

/// Identity of the host: its name, and a hash of name and boot id that differs between two machines
/// of the same name and between two namespaces of the same machine with different host names.
struct Host {
  std::string name;
  uint64_t identity;
};

/// Never fails: where the boot id cannot be read, the name alone decides.
Host this_host();

/// Cores this process may run on and the NUMA node of the first of them, from sched_getaffinity(2)
/// and /sys; fast enough for MPI_Init (no hwloc topology load).
RankPlace this_place();

}  // namespace haichi::placement
