// What an MPI datatype decodes to.
#pragma once

#include <cstdint>

#include "mpiio/regions/pattern.h"

namespace haichi::mpi {

/// A datatype as haichi needs it. `pattern` has the typemap's bytes in typemap order.
struct TypeShape {
  mpiio::PatternPtr pattern;
  int64_t lower_bound = 0;
  int64_t extent = 0;
  /// True if the type is one constructor over a named type, without empty blocks, made with small
  /// counts: what every MPI library can take in a file view. See src/mpi/types/view_types.h.
  bool plain = true;

  int64_t size() const { return pattern->size(); }
};

}  // namespace haichi::mpi
