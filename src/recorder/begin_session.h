// What happens behind MPI_Init when a record is wanted.
#pragma once

namespace haichi::recorder {

/// Collective over MPI_COMM_WORLD. session() is there afterwards, on all ranks or on none; why not
/// is one line on standard error.
void begin_session();

}  // namespace haichi::recorder
