// What the MPI library thinks of arguments of the program's, without a word to the program.
//
// A query of a handle that is null or not committed calls the program's error handler, and by
// default ends the job. So handles that the standard lets be anything are never looked at, and of
// the others the library is asked on a communicator of haichi's own, whose errors are returned.
// Thread-safe, local.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace haichi::mpi {

/// True if messages may be of this datatype: it is one, and committed. Asked by a message to
/// nobody.
bool usable(MPI_Datatype type);

/// True if `count` elements at `begin`, as the program addresses them, would lie where nobody has
/// memory: at a null pointer. `type` is usable.
bool at_null(const void* begin, int64_t count, MPI_Datatype type);

/// True if the library refuses MPI_DATATYPE_NULL for a block of no elements in an MPI_Alltoallw.
bool looks_at_types_of_nothing();

/// Whether the library receives an all-gather by a datatype that is not committed (Open MPI does).
/// A rank alone that gives one must then not be left to it: the others do not wait there.
bool gathers_uncommitted();

/// True if the library refuses buffers that are the same on both sides. (Programs that give such
/// ones are wrong, but not all libraries say so.)
bool refuses_same_buffers();

}  // namespace haichi::mpi
