// Equivalents for datatypes that an MPI library cannot take in a file view.
//
// In MPI_File_set_view, ROMIO of MPICH 4.0.2 ends the program (MPI_Abort) if a pair type such as
// MPI_DOUBLE_INT, an F90 type, or a type made by a large-count (_c) constructor is part of the
// view, and loops for ever on some nests of resized types, subarrays and empty blocks;
// https://github.com/pmodels/mpich/issues/2088 and /5240 are of the same family. So a file of
// haichi's gets a view of bytes with the same map, unless its type is as plain as can be. ROMIO
// itself spells every view out in blocks, so this costs about what it costs anyway.
#pragma once

#include <mpi.h>

#include "mpi/types/datatype.h"

namespace haichi::mpi {

/// True if this MPI library needs an equivalent for a view with this shape.
bool needs_substitute(const TypeShape& shape);

/// A committed type of bytes with the shape's map and extent, to be freed by the caller. Fails if
/// the MPI library does.
Result<MPI_Datatype> byte_type_like(const TypeShape& shape);

/// A committed contiguous type of `size` bytes, to be freed by the caller.
Result<MPI_Datatype> contiguous_bytes(int64_t size);

}  // namespace haichi::mpi
