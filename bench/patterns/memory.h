// How the bytes of a call lie in memory.
#pragma once

#include <mpi.h>
#include <stdint.h>

typedef enum {
  kMemoryContiguous,
  kMemoryStrided,    // pieces with holes as large as they are
  kMemoryIrregular,  // pieces of one to three times that size, with holes of any size
} memory_shape_t;

#define MEMORIES "contiguous|strided|irregular"

typedef struct {
  MPI_Datatype type;  // `count` of it are the bytes
  int count;
  int64_t span;  // bytes of memory
} memory_t;

// `bytes` in pieces of `piece` bytes, or of about as many.
memory_t memory_make(int shape, int64_t piece, int64_t bytes);
void memory_free(memory_t* memory);
