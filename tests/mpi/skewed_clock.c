/* Preload: a monotonic clock that is ahead by 5 s times the rank, and fast by 20 millionths times
 * the rank, as those of different hosts are. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long rank(void) {
  const char* text = getenv("OMPI_COMM_WORLD_RANK");
  if (text == NULL) text = getenv("PMI_RANK");
  return text == NULL ? 0 : atol(text);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int failed = (int)syscall(SYS_clock_gettime, clock, time);
  if (failed != 0 || clock != CLOCK_MONOTONIC) return failed;
  const long long skew_ns =
      rank() * (5000000000LL + (time->tv_sec * 1000000000LL + time->tv_nsec) / 50000);
  const long long all_ns = time->tv_nsec + skew_ns;
  time->tv_sec += all_ns / 1000000000LL;
  time->tv_nsec = (long)(all_ns % 1000000000LL);
  return 0;
}
