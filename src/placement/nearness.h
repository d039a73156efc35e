// How near two ranks of a node are to each other.
#pragma once

#include <cstdint>

#include "placement/placement.h"

namespace haichi::placement {

enum class Nearness : uint8_t {
  core,  ///< both bound to the same one core
  numa,  ///< on cores of one NUMA node
  node,  ///< further apart, or not known to be nearer
};

/// Of two ranks that are bound to these cores of their node.
inline Nearness nearness(const RankPlace& a, const RankPlace& b) {
  if (a.cores == 1 && b.cores == 1 && a.core == b.core) return Nearness::core;
  return a.numa_node >= 0 && a.numa_node == b.numa_node ? Nearness::numa : Nearness::node;
}

}  // namespace haichi::placement
