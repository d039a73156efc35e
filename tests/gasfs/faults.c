/* Faults in a daemon, into which this is preloaded. The file that HAICHI_TEST_FAULTS names orders
 * them: a letter and a number, nothing while the file is empty or not there.
 *   e ERRNO     each pwrite(2) of an object fails so
 *   s MS        each takes so much longer
 *   c SECONDS   the time of day is so much later
 * LMDB's own writes are left alone: they begin in files that are no objects. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long ordered(char what) {
  const int before = errno;
  const char* path = getenv("HAICHI_TEST_FAULTS");
  const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  char text[64] = "";
  if (fd >= 0) {
    const ssize_t size = read(fd, text, sizeof text - 1);
    text[size > 0 ? size : 0] = 0;
    close(fd);
  }
  errno = before;
  return text[0] == what ? strtol(text + 1, NULL, 10) : 0;
}

static int is_object(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  if (size <= 0) return 0;
  path[size] = 0;
  return strstr(path, "/objects/") != NULL;
}

static ssize_t write_or_fail(const char* name, int fd, const void* data, size_t size, off64_t at) {
  ssize_t (*real)(int, const void*, size_t, off64_t) =
      (ssize_t (*)(int, const void*, size_t, off64_t))dlsym(RTLD_NEXT, name);
  if (is_object(fd)) {
    const long wrong = ordered('e'), slow = ordered('s');
    if (wrong) {
      errno = (int)wrong;
      return -1;
    }
    if (slow) usleep((useconds_t)slow * 1000);
  }
  return real(fd, data, size, at);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return write_or_fail("pwrite", fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  return write_or_fail("pwrite64", fd, data, size, at);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  const int done = (int)syscall(SYS_clock_gettime, clock, time);
  if (done == 0 && clock == CLOCK_REALTIME) time->tv_sec += ordered('c');
  return done;
}
