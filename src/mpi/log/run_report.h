// The run report: what each rank recorded, joined rank by rank at MPI_Finalize
// (docs/guide/formats.md).
#pragma once

namespace haichi::mpi {

class Runtime;

/// Collective over MPI_COMM_WORLD. Does nothing if no report is wanted. A report that cannot be
/// written is one line on standard error; the program's result stays as it is.
void write_run_report(Runtime& runtime);

}  // namespace haichi::mpi
