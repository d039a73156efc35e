// What datatypes decode to, kept where it lives as long as they do.
//
// A named type exists from MPI_Init to MPI_Finalize and its handle means nothing else: those are
// in a table. The handle of any other type is used again once the type is freed, so its shape is an
// attribute of the type: gone with it, copied to a duplicate. Thread-safe.
#pragma once

#include <mpi.h>

#include "mpi/types/type_shape.h"

namespace haichi::mpi {

/// The shape of a named type that was kept, else null. No call of MPI. Never freed.
const TypeShape* find_named(MPI_Datatype type);
/// Only for types with MPI_COMBINER_NAMED. Does nothing if the table is full.
void keep_named(MPI_Datatype type, const TypeShape& shape);

/// The shape of another type that was kept, else null. Valid as long as the type.
const TypeShape* find_kept(MPI_Datatype type);
/// Does nothing if the type has one already, or if MPI gives no attributes.
void keep(MPI_Datatype type, const TypeShape& shape);

/// Before MPI_Finalize: keeps nothing from here on, and takes the attributes out of use.
void stop_keeping_types();

}  // namespace haichi::mpi
