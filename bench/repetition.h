// What a program that repeats an exchange prints of one repetition: a line's entries of the slowest
// and of the fastest rank, and whether all bytes were right.
#pragma once

#include <mpi.h>
#include <stdio.h>

// Collective. `seconds` and `wrong` bytes are this rank's. Returns all ranks' wrong bytes; rank 0
// prints.
static inline long print_repetition(int number, double seconds, long wrong) {
  int rank;
  double last = 0, first = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(&seconds, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf(
        "%s{\"op\": \"last rank\", \"seconds\": %.6f, \"wrong_bytes\": %ld}, "
        "{\"op\": \"first rank\", \"seconds\": %.6f, \"wrong_bytes\": 0}",
        number ? ", " : "", last, wrong, first);
  return wrong;
}
