// Which way a collective access goes: by the MPI library, by each rank alone, or in two phases.
//
// Decided from a few sums over the ranks, which one reduction makes, whatever the number of ranks.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mpiio/twophase/two_phase.h"
#include "placement/placement.h"

namespace haichi::mpiio {

/// What the MPI library does of itself in a collective access.
struct LibraryFileIo {
  /// Where the ranks' parts lie apart, each rank accesses the file alone (ROMIO).
  bool alone_if_apart = false;
  /// A split access is each rank's own, whatever the ranks' parts (OMPIO: nonblocking independent
  /// ones).
  bool splits_alone = false;
  /// Of two ranks, each accesses the file alone, whatever their parts (OMPIO; not in split
  /// accesses).
  bool pairs_alone = false;
  /// Its independent writes may fill holes, under a lock (data sieving).
  bool locks_holes = true;
  /// Its calls of one file by several threads wait for one another (OMPIO).
  bool locks_files = false;

  /// The same in an access that is split or is not.
  LibraryFileIo in_access(bool split) const {
    LibraryFileIo io = *this;
    io.splits_alone = splits_alone && split;
    io.pairs_alone = pairs_alone && !split;
    return io;
  }
};

/// `balanced` is two_phase in which no node handles more of the file than usual: where all bytes
/// stay with the nodes that have them, measured times must be able to say that this was wrong.
enum class Way { library, alone, two_phase, balanced };

/// Why a way was taken.
enum class WayReason {
  nothing,     ///< no rank has bytes
  asked,       ///< the user asked for aggregators
  far_apart,   ///< most of the range is holes
  apart,       ///< the ranks' parts do not interleave
  little,      ///< as the library does it, and too little to agree about
  split,       ///< the library leaves it to each rank, too
  pieces,      ///< the pieces are large
  few,         ///< there are few pieces to write
  read_alone,  ///< reading alone costs less than through windows
  measured,    ///< trials have shown that it takes less time, or this is one
  interleave,
};

struct WayChoice {
  Way way = Way::two_phase;
  WayReason reason = WayReason::interleave;
};

/// True if an access is the library's since no rank has more than `most` bytes: agreeing about it
/// costs as much. `written_pieces`: of all ranks, 0 for a read.
bool left_as_little(const LibraryFileIo& library, const placement::Placement& placement,
                    int64_t most, int64_t written_pieces);

/// `library`: what it does in this access. Two-phase access and each rank alone must be possible
/// for what they are chosen for; the library's own way always is, and is not chosen if
/// `may_be_library` is false.
WayChoice choose_way(const placement::Placement& placement, const TwoPhaseOptions& options,
                     Direction direction, const Demand& demand, const LibraryFileIo& library,
                     bool may_be_library);

/// "library", "alone", "two phases", "two phases in balance".
std::string_view name_of(Way way);

/// In words, for the report.
std::string text_of(const WayChoice& choice, const placement::Placement& placement,
                    const Demand& demand);

}  // namespace haichi::mpiio
