// What ranks want of a file together that all have the same regular pieces.
#pragma once

#include <cstdint>

#include "mpiio/twophase/cut.h"
#include "mpiio/twophase/two_phase.h"

namespace haichi::mpiio {

/// Each of the ranks has `pieces` pieces of `piece` bytes, at a distance of `stride`, the first of
/// rank r at r * `shift`.
inline Demand demand(int ranks, int64_t pieces, int64_t piece, int64_t stride, int64_t shift) {
  const int64_t hole = hole_of(Direction::write);
  const int64_t span = (pieces - 1) * stride + piece;
  return {.hull = {0, (ranks - 1) * shift + span},
          .spans = ranks * span,
          .bytes = ranks * pieces * piece,
          .most = pieces * piece,
          .blocks = ranks * pieces,
          .hole = hole,
          .parts = ranks * (stride - piece < hole ? 1 : pieces),
          .occupied = ranks * (stride - piece < hole ? span : pieces * piece),
          .ranks = ranks,
          .all_open = true};
}

}  // namespace haichi::mpiio
