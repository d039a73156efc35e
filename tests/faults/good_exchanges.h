/* What the programs of faults in an exchange share: all-to-alls that go well. */
#pragma once

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 1000, CODE = 9 };

typedef struct {
  int rank, ranks;
  char *out, *in;
} exchange_t;

/* Starts MPI and makes CALLS all-to-alls, the number on the command line, of BLOCK bytes. */
static inline exchange_t good_exchanges(int argc, char** argv) {
  exchange_t e;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &e.ranks);
  e.out = calloc((size_t)e.ranks, BLOCK);
  e.in = calloc((size_t)e.ranks, BLOCK);
  for (int call = 0; call < atoi(argv[1]); ++call)
    MPI_Alltoall(e.out, BLOCK, MPI_BYTE, e.in, BLOCK, MPI_BYTE, MPI_COMM_WORLD);
  return e;
}
