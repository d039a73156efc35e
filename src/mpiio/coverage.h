// Which bytes of an aggregator's window some rank gives, and whether any are given twice.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <optional>
#include <span>

#include "mpiio/access.h"
#include "mpiio/run_list.h"
#include "plan/window_layout.h"

namespace haichi::mpiio {

struct Coverage {
  RunList runs;          ///< bytes of at least one access
  bool overlap = false;  ///< some byte is one of two accesses
};

/// Of the bytes of `window`, whose hull must have no bytes of an access but in its parts. Where all
/// accesses that have bytes in it are regular there, one period is looked at, whatever the window's
/// size: R accesses cost R log R and the blocks of a period. Else all blocks in the window are
/// looked at: few are merged as lists, many are marked in a bit map. Either takes an eighth of the
/// window's bytes at most (or some KiB) for the time of the call.
Coverage coverage_of(std::span<const Access> accesses, const plan::WindowLayout& window);

/// Where in an extent of the file all accesses that have bytes there repeat, and at which distance,
/// several times at least; a distance of 0: each has all bytes there. Nothing if they do not.
std::optional<Pattern::Repeat> common_repeat(std::span<const Access> accesses, plan::Extent extent);

}  // namespace haichi::mpiio
