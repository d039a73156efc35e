// The calls by which a file is written and read.
#pragma once

#include <mpi.h>

#include "memory.h"

// In the order of CALLS.
typedef enum {
  kAll,        // MPI_File_write_all
  kAtAll,      // ..._at_all
  kIAll,       // MPI_File_iwrite_all
  kIAtAll,     // ..._at_all
  kSplit,      // MPI_File_write_all_begin and _end
  kSplitAt,    // MPI_File_write_at_all_begin and _end
  kOrdered,    // MPI_File_write_ordered
  kAt,         // MPI_File_write_at
  kIAt,        // MPI_File_iwrite_at
  kIndividual  // MPI_File_write
} call_t;

#define CALLS "all|at_all|iall|iat_all|split|at_split|ordered|at|iat|individual"

// Whether it takes an offset.
int call_has_offset(int call);
// Writes or reads; `request` is MPI_REQUEST_NULL afterwards if the call is a blocking one.
void call_make(int call, int writing, MPI_File file, MPI_Offset offset, void* buffer,
               const memory_t* memory, MPI_Request* request);
