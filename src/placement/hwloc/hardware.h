// What a node is made of and what a process is bound to, by hwloc.
//
// For `haichi where` alone: loading hwloc's topology takes milliseconds and a library, which
// nothing that is preloaded into a program may cost. What MPI_Init needs is in placement/host.h.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct hwloc_topology;

namespace haichi::placement {

/// What of a node this job may use (a container or a job's cgroup may hide the rest).
struct Hardware {
  int packages;
  int cores;
  int threads;  ///< hardware threads, what the kernel calls CPUs
  int numa_nodes;
};

/// Where a process may run. Lists are of the kernel's numbers, "0-3,8".
struct Binding {
  std::string threads;
  std::string numa_nodes;
  bool bound;  ///< false if it may run on all that the job may use of the node
};

/// A loaded topology. Not thread-safe.
class Topology {
 public:
  /// Of this node; honours hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC, ...).
  static Result<Topology> load();
  /// An imagined one, hwloc's notation: "package:2 numa:2 core:4 pu:2".
  static Result<Topology> synthetic(const std::string& description);

  Hardware hardware() const;
  /// Of the calling thread.
  Result<Binding> binding() const;
  /// As if bound to these threads.
  Result<Binding> binding_to(const std::string& threads) const;

 private:
  struct Destroy {
    void operator()(hwloc_topology* topology) const;
  };
  explicit Topology(hwloc_topology* loaded) : topology_(loaded) {}
  std::unique_ptr<hwloc_topology, Destroy> topology_;
};

}  // namespace haichi::placement
