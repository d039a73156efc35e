// The clock of the measurement programs.
#pragma once

#include <time.h>

// Seconds of the machine's clock, which all processes on it share: MPI_Wtime() need not be such a
// one.
static inline double clock_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Seconds that a call takes, in the mean of so many that follow each other.
static inline double seconds_a_call(int calls, void (*call)(void* context), void* context) {
  const double begin = clock_now();
  for (int i = 0; i < calls; ++i) call(context);
  return (clock_now() - begin) / calls;
}
