// How the pieces of an access lie in the file: in how many places, and how much of it these are.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include "mpiio/regions/access.h"

namespace haichi::mpiio {

/// The parts of the file that an access has, if a hole of some size ends a part.
struct Spread {
  int64_t parts = 0;
  int64_t bytes = 0;  ///< of the file, smaller holes among them
};

/// The parts between holes of `hole` bytes or more: of an access of few pieces exactly, else
/// estimated from some of its pieces, at a few places. A hole that none of them shows is in no
/// part.
Spread spread_of(const Access& access, int64_t hole);

}  // namespace haichi::mpiio
