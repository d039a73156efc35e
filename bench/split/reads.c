/* Times what a program that knows nothing of haichi does: reads of a cached file.
 *
 * usage: reads FILE BYTES CALLS ROUNDS
 *
 * Prints a line for each round: nanoseconds per call, and the share of the round, in per cent, for
 * which this thread waited for a processor. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"

static double now(void) { return 1e9 * clock_now(); }

static void need(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

static double waited(void) {
  double ran = 0, waited = 0;
  FILE* told = fopen("/proc/thread-self/schedstat", "r");
  if (!told) return 0;
  if (fscanf(told, "%lf %lf", &ran, &waited) != 2) waited = 0;
  fclose(told);
  return waited;
}

int main(int count, char** words) {
  if (count != 5) return 2;
  const int fd = open(words[1], O_RDONLY);
  need(fd >= 0, words[1]);
  const size_t bytes = strtoul(words[2], NULL, 10);
  const long calls = atol(words[3]), rounds = atol(words[4]);
  char* data = malloc(bytes);
  need(data != NULL, "malloc");
  memset(data, 1, bytes);
  need(pread(fd, data, bytes, 0) == (ssize_t)bytes, "pread");
  for (long round = 0; round < rounds; ++round) {
    const double before = waited(), start = now();
    for (long i = 0; i < calls; ++i) need(pread(fd, data, bytes, 0) == (ssize_t)bytes, "pread");
    const double taken = now() - start;
    printf("%.2f %.2f\n", taken / (double)calls, 100 * (waited() - before) / taken);
  }
  return 0;
}
