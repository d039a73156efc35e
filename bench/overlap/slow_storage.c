/* slow_storage: a preload that makes writes take as long as on storage of a given rate, during
 * which the processor is free: behind each of them it sleeps for as long as is missing.
 *
 *   STORAGE_PATH=SUFFIX  only files whose name ends so
 *   STORAGE_MBS=RATE     of each process, in 10^6 bytes per second */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int chosen(int fd) {
  const char* suffix = getenv("STORAGE_PATH");
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = suffix ? readlink(link, name, sizeof name - 1) : -1;
  if (n < 0) return 0;
  name[n] = 0;
  const size_t length = strlen(suffix);
  return (size_t)n >= length && strcmp(name + n - length, suffix) == 0;
}

static ssize_t slow_write(const char* name, int fd, const void* data, size_t size, off_t at) {
  typedef ssize_t (*write_fn)(int, const void*, size_t, off_t);
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  const ssize_t done = ((write_fn)dlsym(RTLD_NEXT, name))(fd, data, size, at);
  if (done <= 0 || !chosen(fd)) return done;
  const double rate = atof(getenv("STORAGE_MBS") ? getenv("STORAGE_MBS") : "100");
  const long ns = t.tv_nsec + (long)(1e3 * (double)done / rate);
  t.tv_sec += ns / 1000000000;
  t.tv_nsec = ns % 1000000000;
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)) continue;
  return done;
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return slow_write("pwrite", fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t at) {
  return slow_write("pwrite64", fd, data, size, at);
}
