// What happens before MPI_Finalize when there is a record.
#pragma once

namespace haichi::recorder {

/// Collective over MPI_COMM_WORLD. Writes the record; session() is gone afterwards. Does nothing
/// where there is none. A record that can't be written is one line on standard error.
void end_session();

}  // namespace haichi::recorder
