// From what is said of nodes' addresses to places of a network.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "topology/shape.h"

namespace haichi::topology {

/// The place of each node in the network. An address is
///   "17"        the number of a place, in any network
///   "1,0,2"     coordinates in a mesh or torus, first dimension first; in a dragonfly group,
///   router
///               or leaf, and place on it
///   "s0.s3.n7"  the switches above the node and its name, as Slurm's topology plugin writes them,
///   in
///               a fat tree: nodes below one switch sit side by side; switches are counted as they
///               appear
/// In a crossbar, where all places are alike, node n has place n whatever it says. Fails with
/// EINVAL and names the node whose address is no place of this network, or another node's.
Result<std::vector<int>> seats_of(const Shape& shape, std::span<const std::string> addresses);

}  // namespace haichi::topology
