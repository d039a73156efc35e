/* faultio: a preload that makes the file accesses of chosen descriptors fail, as a disk would.
 *
 *   FAULT_PATH=SUFFIX   only descriptors whose file's name ends so
 *   FAULT_WRITE=EIO     every pwrite fails with EIO (or ENOSPC, EDQUOT, EROFS)
 *   FAULT_READ=EIO      every pread fails with EIO
 *   FAULT_INTERRUPT=N   every N-th call of either kind fails with EINTR
 *   FAULT_SHORT=BYTES   no call moves more than that
 * Build: cc -O2 -fPIC -shared -o libfaultio.so faultio.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int chosen(int fd) {
  const char* suffix = getenv("FAULT_PATH");
  if (!suffix) return 0;
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (n < 0) return 0;
  name[n] = 0;
  const size_t length = strlen(suffix);
  return (size_t)n >= length && strcmp(name + n - length, suffix) == 0;
}

static int error_of(const char* variable) {
  const char* name = getenv(variable);
  if (!name) return 0;
  if (strcmp(name, "EIO") == 0) return EIO;
  if (strcmp(name, "ENOSPC") == 0) return ENOSPC;
  if (strcmp(name, "EDQUOT") == 0) return EDQUOT;
  if (strcmp(name, "EROFS") == 0) return EROFS;
  fprintf(stderr, "faultio: unknown error %s\n", name);
  exit(3);
}

/* The bytes that a call may move, or -1 with errno set. */
static ssize_t allowed(int fd, size_t size, const char* variable) {
  static __thread long calls;
  if (!chosen(fd)) return (ssize_t)size;
  const char* every = getenv("FAULT_INTERRUPT");
  if (every && ++calls % atol(every) == 0) {
    errno = EINTR;
    return -1;
  }
  const int error = error_of(variable);
  if (error) {
    errno = error;
    return -1;
  }
  const char* most = getenv("FAULT_SHORT");
  if (most && size > (size_t)atol(most)) return atol(most);
  return (ssize_t)size;
}

typedef ssize_t (*write_fn)(int, const void*, size_t, off_t);
typedef ssize_t (*read_fn)(int, void*, size_t, off_t);

static ssize_t faulty_write(const char* name, int fd, const void* data, size_t size, off_t at) {
  const ssize_t n = allowed(fd, size, "FAULT_WRITE");
  return n < 0 ? n : ((write_fn)dlsym(RTLD_NEXT, name))(fd, data, (size_t)n, at);
}

static ssize_t faulty_read(const char* name, int fd, void* data, size_t size, off_t at) {
  const ssize_t n = allowed(fd, size, "FAULT_READ");
  return n < 0 ? n : ((read_fn)dlsym(RTLD_NEXT, name))(fd, data, (size_t)n, at);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return faulty_write("pwrite", fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t at) {
  return faulty_write("pwrite64", fd, data, size, at);
}
ssize_t pread(int fd, void* data, size_t size, off_t at) {
  return faulty_read("pread", fd, data, size, at);
}
ssize_t pread64(int fd, void* data, size_t size, off_t at) {
  return faulty_read("pread64", fd, data, size, at);
}
