// How a program times what its ranks do together. Times are seconds; all functions are collective.
#pragma once

#include <mpi.h>
#include <stdio.h>

#include "clock.h"

// Starts together on all ranks, so that a part's time is its own and not the wait for a late rank.
static inline double timing_begin(MPI_Comm comm) {
  MPI_Barrier(comm);
  return clock_now();
}

// The largest of the ranks' seconds.
static inline double timing_slowest(double seconds) {
  double slowest;
  MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

// From the first begin of the ranks of `comm` to their last end, as IOR has it. The longest time of
// a rank alone would be too little where a machine has more ranks than processors: some begin only
// when others are done. The ranks are on one machine, be it as nodes of a lab, and share its clock.
static inline double timing_span(MPI_Comm comm, double begin, double end) {
  // One maximum for both: of the end, and of the begin with its sign turned.
  const double own[2] = {end, -begin};
  double all[2];
  MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, comm);
  return all[0] + all[1];
}

// What a program that repeats an exchange prints of one repetition: a line's entries of the slowest
// and of the fastest rank, and whether all bytes were right. `seconds` and `wrong` bytes are this
// rank's. Returns all ranks' wrong bytes; rank 0 prints.
static inline long timing_print(int number, double seconds, long wrong) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double last = timing_slowest(seconds), first = -timing_slowest(-seconds);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf(
        "%s{\"op\": \"last rank\", \"seconds\": %.6f, \"wrong_bytes\": %ld}, "
        "{\"op\": \"first rank\", \"seconds\": %.6f, \"wrong_bytes\": 0}",
        number ? ", " : "", last, wrong, first);
  return wrong;
}
