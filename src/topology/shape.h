// The shape of a machine's network as a text names it, and the rules by which it routes.
//
// Why here: the simulator lets messages go this way, and the model of the collectives counts them
// on the same links. Both must mean the same by "torus:4x4x6".
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace haichi::topology {

struct Shape {
  enum class Kind : uint8_t { crossbar, fat_tree, mesh, torus, dragonfly };
  Kind kind = Kind::crossbar;
  /// Mesh, torus: places along each dimension. Dragonfly: groups, routers of each, places of each.
  std::vector<int> extents = {};
  int per_switch = 0;  ///< fat tree: places below a switch
  int ups = 0;     ///< fat tree: links up from a switch, and down to it; dragonfly: links between
                   ///< groups of a router, or of a spine
  int spines = 0;  ///< dragonfly+: of a group
  bool adaptive = false;  ///< ways are chosen by how full they are; else they are always the same

  bool box() const { return kind == Kind::mesh || kind == Kind::torus; }
  /// How many there are to sit on; a crossbar and a fat tree have as many as are wanted.
  int64_t places() const;
};

/// Reads
///   crossbar            nothing between any two places
///   fattree:N:T         two levels: N places a switch, N/T links up from each (T is the taper, at
///                       least 1); to place p always by link p modulo their number, as static
///                       routing does
///   torus:AxBx...       a link each way between neighbours; places count the last dimension first.
///   mesh:AxBx...        Routes correct the first dimension first, in a torus the shorter way round
///                       (up, if both are equal)
///   dragonfly:P:A:H[:G] P places a router, A routers a group, H links to other groups of each; G
///                       groups, or as many as have a link to each other, A*H+1
///   dragonfly+:P:L:S:H[:G]  P places a leaf, L leaves and S spines a group, H links of each spine;
///                       G groups, or S*H+1. Which links both have is in dragonfly.h
/// A fat tree and the last two may end in ":adaptive": of several ways a message takes one that is
/// less full.
/// Fails with EINVAL if it is none of these.
Result<Shape> parse_shape(std::string_view text);

/// Steps along one dimension of a mesh or torus, negative ones down.
inline int steps_along(bool torus, int extent, int from, int to) {
  const int way = to - from;
  if (!torus) return way;
  const int ahead = way >= 0 ? way : way + extent;
  return 2 * ahead <= extent ? ahead : ahead - extent;
}

}  // namespace haichi::topology
