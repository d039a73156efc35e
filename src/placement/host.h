// What one process can say of its own place: host identity, cores, NUMA node.
//
// Read at every MPI_Init, by every rank of a node at once: a few small files of the kernel, no
// hwloc topology (which takes milliseconds and is for `haichi where`).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// Of the kernel that runs: equal in all its namespaces, so that all in them read one clock. 0
/// where the boot id cannot be read.
uint64_t this_kernel();

/// The hash: equal exactly for equal names and boot ids, but for one chance in 2^64.
uint64_t host_identity(std::string_view name, std::string_view boot_id);

/// Model name of the processor, as /proc/cpuinfo has it; empty where it has none.
std::string processor_model();

/// Where this node sits in the network as the environment says: HAICHI_NODE_ADDRESS, or what
/// Slurm's topology plugin tells each task (SLURM_TOPOLOGY_ADDR). Empty if neither is set.
std::string this_address();

/// Cores that the calling thread may run on, from sched_getaffinity(2), by the kernel's numbers in
/// ascending order; none where that cannot be found out.
std::vector<int> allowed_cores();

/// How many of those there are, the first one and its NUMA node, from /sys. A core is what the
/// kernel schedules on: a hardware thread, by the kernel's number. What cannot be found out is left
/// as not known.
RankPlace this_place();

/// NUMA node of a core, or -1; `cpus` is the kernel's folder with one folder per core.
int numa_node_of(int core, const std::string& cpus = "/sys/devices/system/cpu");

}  // namespace haichi::placement
