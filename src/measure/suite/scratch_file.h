// The file that measurements of MPI-IO are made with: in the folder of --directory, gone behind
// them.
#pragma once

#include "measure/case/case.h"

namespace haichi::measure {

/// Opens the job's file for reading and writing, on all ranks of `comm`; it is deleted when it is
/// closed. What MPI says.
int open_scratch(const Case& c, MPI_Comm comm, MPI_File* file);
/// In the set-up: opens it on all ranks, until the case ends.
MPI_File scratch_file(Case& c);

/// Before the first sample: fails unless all `bytes` were written. A library may tell of a full
/// disk by the status alone (Open MPI 4.1), and what writes nothing is quick.
void must_be_whole(MPI_Status* status, int64_t bytes);
/// In the set-up: writes the bytes so that there are pages to write into, and something to read.
void fill(const Case& c, MPI_File file, MPI_Offset offset, const char* memory, int bytes);

/// In the set-up, for accesses that a library locks the file for: fails where the file system has
/// no locks and the library would end the job (MPICH and what stems from it).
void need_locks(const Case& c);

}  // namespace haichi::measure
