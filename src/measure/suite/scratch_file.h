// The file that measurements of MPI-IO are made with: in the folder of --directory, gone behind
// them.
#pragma once

#include "measure/run/case.h"

namespace haichi::measure {

/// Opens the job's file for reading and writing, on all ranks of `comm`; it is deleted when it is
/// closed.
inline MPI_File open_scratch(const Case& c, MPI_Comm comm) {
  MPI_File file = MPI_FILE_NULL;
  must(MPI_File_open(comm, c.file.c_str(),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  return file;
}

inline MPI_File open_scratch(const Case& c) { return open_scratch(c, c.comm); }

inline void close_scratch(MPI_File file) { must(MPI_File_close(&file)); }

/// Before the first sample: fails unless all `bytes` were written. A library may tell of a full
/// disk by the status alone (Open MPI 4.1), and what writes nothing is quick.
void must_be_whole(MPI_Status* status, int64_t bytes);
/// Writes the bytes so that there are pages to write into, and something to read.
void fill(MPI_File file, MPI_Offset offset, const char* memory, int bytes);

/// For accesses that a library locks the file for: fails where the file system has no locks and the
/// library would end the job (MPICH and what stems from it).
void need_locks(const Case& c);

}  // namespace haichi::measure
