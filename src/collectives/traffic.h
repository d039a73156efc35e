// How crowded the network gets by an exchange: messages through the fullest port and over the
// fullest link. This is the topology term of the model (paper 004, section 3.4), for any set of
// nodes.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "placement/placement.h"
#include "topology/link_load.h"

namespace haichi::collectives {

/// Counted in messages of one block, all of one size.
struct Load {
  double ports = 0;  ///< through the fullest port of a node, in or out
  double links = 0;  ///< over the fullest link between places
  double hops = 0;   ///< links of the longest way
};

/// The traffic of one communicator. Each pattern is counted when it is first asked for, which takes
/// some milliseconds for 4096 ranks, and then remembered. Not thread-safe.
class Traffic {
 public:
  /// seats[n] is the place of node n in the network; empty: node n has place n. Fails with EINVAL
  /// if the network has no such places. The placement must outlive the object.
  static Result<Traffic> make(const placement::Placement& placement, const topology::Shape& shape,
                              std::span<const int> seats = {});

  const placement::Placement& placement() const { return *placement_; }
  /// Ranks on the fullest node.
  int most_on_a_node() const { return most_on_a_node_; }

  /// Every rank to every other rank.
  const Load& uniform();
  /// Every rank to the rank `distance` after it, counted round: a step of a ring.
  const Load& shift(int distance);
  /// The mean of shift() over the steps of a ring: of all of them up to 24 steps, else of 24.
  const Load& steps();

  /// The share of a link's bandwidth that is left to each rank in a uniform exchange: the "c" of
  /// paper 004, formula (3), at most 1.
  double contention();

 private:
  Traffic(const placement::Placement& placement, const topology::Shape& shape,
          std::span<const int> seats);

  const placement::Placement* placement_;
  topology::LinkLoads links_;
  int most_on_a_node_ = 0;
  std::unordered_map<int, Load> shifts_;
  Load uniform_, steps_;
  bool knows_uniform_ = false, knows_steps_ = false;
};

}  // namespace haichi::collectives
