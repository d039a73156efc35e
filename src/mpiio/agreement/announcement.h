// What a rank tells of its part of a collective access in two phases.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpiio/regions/access.h"
#include "plan/file_domains.h"

namespace haichi::mpiio {

/// Fixed-size record of one rank (328 bytes).
struct Announcement {
  int64_t window;      ///< largest collective buffer in bytes that this rank can do with; 0: this
                       ///< rank needs the call to be passed through
  int64_t hull_begin;  ///< of the file; begin >= end if the rank has no bytes
  int64_t hull_end;
  int64_t bytes;      ///< that the rank accesses
  int64_t blocks;     ///< contiguous pieces of the file that these are, about
  int64_t file_size;  ///< seen by an aggregator that reads, else -1
  uint64_t tuning;    ///< which pair of order and window the rank would try; 0: none
  /// Size of the encoded access if it fits below; 0 if it must be asked for.
  int64_t encoded_size;
  std::byte encoded[264];

  plan::Extent hull() const { return {hull_begin, hull_end}; }
  /// The rank has bytes, and they are described elsewhere.
  bool is_large() const { return hull_begin < hull_end && encoded_size == 0; }
};

/// What a rank says of its access: described in the record itself if that takes little. Of the rest
/// it says nothing: `window` is 0, `file_size` -1.
Announcement announcement_of(const Access& access);

/// True if both have bytes in common.
inline bool meets(const plan::Extent& a, const plan::Extent& b) {
  return !a.empty() && !b.empty() && a.begin < b.end && b.begin < a.end;
}

}  // namespace haichi::mpiio
