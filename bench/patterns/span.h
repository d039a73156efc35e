// Time from the first rank's begin to the last rank's end, as IOR has it. The ranks are on one
// machine, be it as nodes of a lab: they share its clock.
#pragma once

#include <mpi.h>
#include <time.h>

// Seconds of the machine's clock.
static inline double span_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Collective. The sum of `count` parts, each of which this rank began and ended at those times.
static inline double span_of(const double* begins, const double* ends, int count) {
  double sum = 0;
  for (int k = 0; k < count; ++k) {
    // One maximum for both: of the end, and of the begin with its sign turned.
    const double own[2] = {ends[k], -begins[k]};
    double all[2];
    MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    sum += all[0] + all[1];
  }
  return sum;
}
