/* lost_write: a preload under which the third write of 16 bytes or more to a regular file is
 * told to have been made, and is not: as if somebody had put back what was there before.
 * Build: cc -O2 -fPIC -shared -o liblost.so lost_write.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t (*write_fn)(int, const void*, size_t, off_t);

static ssize_t lossy(const char* name, int fd, const void* data, size_t size, off_t at) {
  static atomic_int writes;
  struct stat facts;
  const int counts = size >= 16 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
  if (counts && atomic_fetch_add(&writes, 1) == 2) return (ssize_t)size;
  return ((write_fn)dlsym(RTLD_NEXT, name))(fd, data, size, at);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  return lossy("pwrite", fd, data, size, at);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off_t at) {
  return lossy("pwrite64", fd, data, size, at);
}
