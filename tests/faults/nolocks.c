/* nolocks: a preload that makes a file system without locks: fcntl's and flock's requests for one
 * fail with ENOLCK, as they do where a lock daemon is missing.
 * Build: cc -O2 -fPIC -shared -o libnolocks.so nolocks.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>

static int refuse(void) {
  errno = ENOLCK;
  return -1;
}

typedef int (*fcntl_call)(int, int, void*);

static int carry_out(const char* name, int fd, int command, void* argument) {
  if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
      command == F_OFD_SETLKW)
    return refuse();
  return ((fcntl_call)dlsym(RTLD_NEXT, name))(fd, command, argument);
}

int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return carry_out("fcntl", fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return carry_out("fcntl64", fd, command, argument);
}

int flock(int fd, int operation) {
  (void)fd;
  (void)operation;
  return refuse();
}
