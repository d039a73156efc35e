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
  enum class Kind : uint8_t { crossbar, fat_tree, mesh, torus };
  Kind kind = Kind::crossbar;
  std::vector<int> extents = {};  ///< mesh, torus: places along each dimension
  int per_switch = 0;             ///< fat tree: places below a switch
  int ups = 0;                    ///< fat tree: links up from a switch, and down to it

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
