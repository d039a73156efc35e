#include "memory.h"

#include <stdlib.h>

static MPI_Datatype irregular(int64_t piece, int64_t bytes, int64_t* span) {
  const size_t most = (size_t)(bytes / piece + 1);
  int* lengths = malloc(most * sizeof *lengths);
  MPI_Aint* at = malloc(most * sizeof *at);
  int64_t left = bytes, place = 0;
  int count = 0;
  for (uint32_t seed = 1; left > 0; ++count) {
    seed = seed * 1664525u + 1013904223u;
    const int64_t length = piece * (1 + (seed >> 16) % 3);
    lengths[count] = (int)(length < left ? length : left);
    at[count] = (MPI_Aint)place;
    left -= lengths[count];
    place += lengths[count] + 8 * (1 + (seed >> 20) % 7);
  }
  MPI_Datatype made;
  MPI_Type_create_hindexed(count, lengths, at, MPI_BYTE, &made);
  free(lengths);
  free(at);
  *span = place;
  return made;
}

// Whole pieces, and what is left behind them.
static MPI_Datatype strided(int64_t piece, int64_t bytes) {
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_BYTE}, made;
  const int64_t whole = bytes / piece;
  int lengths[2] = {1, (int)(bytes % piece)};
  MPI_Aint at[2] = {0, (MPI_Aint)(2 * whole * piece)};
  MPI_Type_create_hvector((int)whole, (int)piece, (MPI_Aint)(2 * piece), MPI_BYTE, &types[0]);
  if (lengths[1] == 0) return types[0];
  MPI_Type_create_struct(2, lengths, at, types, &made);
  MPI_Type_free(&types[0]);
  return made;
}

memory_t memory_make(int shape, int64_t piece, int64_t bytes) {
  memory_t made = {MPI_BYTE, (int)bytes, bytes};
  if (shape == kMemoryContiguous || bytes == 0) return made;
  made.count = 1;
  made.span = 2 * bytes;
  made.type = shape == kMemoryStrided ? strided(piece, bytes) : irregular(piece, bytes, &made.span);
  MPI_Type_commit(&made.type);
  return made;
}

void memory_free(memory_t* memory) {
  if (memory->type != MPI_BYTE) MPI_Type_free(&memory->type);
}
