// Which bytes of an aggregator's window some rank gives, and whether any are given twice.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <optional>
#include <span>

#include "mpiio/regions/access.h"
#include "mpiio/regions/run_list.h"
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

/// Parts of the file that lie one behind the other, and in which bytes lie alike.
struct Periods {
  int64_t begin, size, count;
  plan::Extent first() const { return {begin, begin + size}; }
  int64_t end() const { return begin + count * size; }
};

/// In which all accesses that have bytes in an extent of the file repeat, several times at least.
/// Nothing if they do not, or if each has all bytes there.
std::optional<Periods> common_periods(std::span<const Access> accesses, plan::Extent extent);

}  // namespace haichi::mpiio
