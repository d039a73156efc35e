// From an MPI datatype to the pattern of its bytes.
#pragma once

#include <mpi.h>

#include "base/result.h"
#include "mpi/types/type_shape.h"

namespace haichi::mpi {

/// Decodes by MPI_Type_get_envelope and _contents (MPI 4.1, section 5.1.13), every combiner, large
/// counts included. Once for each type: the shape is kept (mpi/types/kept_types.h), so that later
/// calls ask the library for an attribute at most, and for a named type for nothing. Fails for a
/// null handle, for nests deeper than 500, and for combiners that are not in the standard; the
/// caller then passes the call through.
Result<TypeShape> decode_type(MPI_Datatype type);

/// Frees a type that the library gave to tell of another: predefined ones are the library's own.
void free_unless_predefined(MPI_Datatype type);

}  // namespace haichi::mpi
