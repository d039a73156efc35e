// A split read or write cut into pieces that threads take one after the other.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <vector>

#include "numaio/page_map.h"
#include "numaio/split.h"

namespace haichi::numaio {

/// Bytes [begin, begin + bytes) of the transfer.
struct Piece {
  int64_t begin, bytes;
};

/// Bytes [begin, end) that are of one load.
struct Stretch {
  int64_t begin, end;
  size_t load;
};

/// What a transfer is: loads, and which bytes belong to each.
struct Demand {
  std::vector<Load> loads;
  std::vector<Stretch> stretches;  ///< ascending, without holes
};

/// What is known of both ends of a transfer of `bytes` bytes.
struct Ends {
  int64_t bytes;
  /// Of the memory read and of the memory written, in pages of `page_bytes`; the transfer begins
  /// `lead` bytes into the first page. An empty map is kFollows: memory that is not there yet.
  const PageMap *source, *target;
  int64_t source_lead, target_lead;
  int64_t page_bytes;
  /// The node on which the caller's memory comes to be that nobody has touched yet: those bytes are
  /// moved by threads of that node alone, whichever of the ends it is.
  int caller_node;
};

/// Joins both maps. What the kernel does not tell of counts as memory of the caller's node.
Demand demand_of(const Ends& ends, int nodes);

/// Pieces of each node, in ascending order, cut at multiples of `align` bytes of the transfer's
/// offset `origin` and `target_bytes` long at most, as far as the alignment allows.
std::vector<std::vector<Piece>> cut(const Demand& demand, const Split& split, int nodes,
                                    int64_t origin, int64_t align, int64_t target_bytes);

}  // namespace haichi::numaio
