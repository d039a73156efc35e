// From an MPI datatype to the pattern of its bytes.
#pragma once

#include <mpi.h>

#include "mpiio/pattern.h"

namespace haichi::mpi {

/// A datatype as haichi needs it. `pattern` has the typemap's bytes in typemap order.
struct TypeShape {
  mpiio::PatternPtr pattern;
  int64_t lower_bound = 0;
  int64_t extent = 0;
  /// True if a pair type (MPI_DOUBLE_INT, ...), an F90 type or a type with large counts is part of
  /// it: some MPI libraries do not take these in file views. See src/mpi/compat/view_types.h.
  bool has_unusual_part = false;

  int64_t size() const { return pattern->size(); }
};

/// Decodes by MPI_Type_get_envelope and _contents (MPI 4.1, section 5.1.13), every combiner, large
/// counts included. Fails for a null handle, for nests deeper than 500, and for combiners that are
/// not in the standard; the caller then passes the call through.
Result<TypeShape> decode_type(MPI_Datatype type);

}  // namespace haichi::mpi
