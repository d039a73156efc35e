// The file that measurements of MPI-IO are made with: in the folder of --directory, gone behind
// them.
#pragma once

#include "measure/run/case.h"

namespace haichi::measure {

/// Opens the job's file for reading and writing, on all ranks; it is deleted when it is closed.
inline MPI_File open_scratch(const Case& c) {
  MPI_File file;
  must(MPI_File_open(c.comm, c.file.c_str(),
                     MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &file));
  return file;
}

inline void close_scratch(MPI_File file) { must(MPI_File_close(&file)); }

}  // namespace haichi::measure
