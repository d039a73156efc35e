// Which bytes of an aggregator's window some rank gives, and whether any are given twice.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <span>

#include "mpiio/access.h"
#include "mpiio/run_list.h"
#include "plan/file_domains.h"

namespace haichi::mpiio {

struct Coverage {
  RunList runs;          ///< bytes of at least one access
  bool overlap = false;  ///< some byte is one of two accesses
};

/// Of the bytes of `window`. Where all accesses that have bytes in it are regular there, one period
/// is looked at, whatever the window's size: R accesses cost R log R and the blocks of a period.
/// Else the blocks in the window are merged at once, up to some hundreds by a heap, more of them
/// by marking bytes in a bit map, which takes an eighth of the window for the time of the call.
Coverage coverage_of(std::span<const Access> accesses, plan::Extent window);

}  // namespace haichi::mpiio
