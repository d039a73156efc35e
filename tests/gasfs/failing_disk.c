/* A disk that fails: preloaded into a server, each pwrite(2) of an object fails with EIO while the
 * file that HAICHI_TEST_FAILING_DISK names is there. LMDB's own writes are left alone: they begin
 * in files that are no objects. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
  const char* flag = getenv("HAICHI_TEST_FAILING_DISK");
  if (flag && access(flag, F_OK) == 0 && is_object(fd)) {
    errno = EIO;
    return -1;
  }
  return real(fd, data, size, at);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return write_or_fail("pwrite", fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  return write_or_fail("pwrite64", fd, data, size, at);
}
