// The NUMA nodes of this host as the calling thread may use them.
#pragma once

#include <vector>

#include "machine/numa_paths.h"

namespace haichi::numaio {

/// Nodes by the kernel's numbers, from 0 to the largest; a number that no node has, has no
/// processors and no memory.
struct HostNodes {
  std::vector<std::vector<int>> cpus;  ///< of each node, those that the calling thread may run on
  std::vector<bool> memory;            ///< whether a node has any
  std::vector<int> distances;          ///< row by row, as in machine::NumaPaths

  int nodes() const { return int(cpus.size()); }
  /// Processors of all nodes.
  int processors() const;
  /// How many there are of each.
  std::vector<int> cores() const;
};

/// By libnuma and sched_getaffinity(2). Never fails: where the kernel knows no nodes there is one
/// node with what the thread may run on.
HostNodes this_hosts_nodes();

/// The node that the calling thread runs on now, or 0.
int node_now();

}  // namespace haichi::numaio
