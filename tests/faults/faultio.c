/* faultio: a preload that makes the file accesses of chosen descriptors fail, as a disk would.
 *
 *   FAULT_PATH=SUFFIX   only descriptors whose file's name ends so
 *   FAULT_WRITE=EIO     every pwrite fails with EIO (or ENOSPC, EDQUOT, EROFS)
 *   FAULT_READ=EIO      every pread fails with EIO
 *   FAULT_INTERRUPT=N   every N-th call of either kind fails with EINTR
 *   FAULT_SHORT=BYTES   no call moves more than that
 *   FAULT_AFTER=BYTES   writes fail only once this process has written that much
 *   FAULT_KILL=BYTES    the process ends by SIGKILL once it has written that much
 *   FAULT_MEMORY=EMFILE memory in common cannot be made (memfd_create of haichi)
 *   FAULT_PAGES=ENOSPC  it can be made, but only its first pages are to be had (pwrite)
 *   FAULT_CLOSE=EDQUOT  close fails once pwrite was called on the descriptor; it is closed
 *   FAULT_RANK=N        these four on rank N of the job only
 *   FAULT_THREAD=EAGAIN haichi is given no thread (pthread_create of it or of the C++ library)
 *   FAULT_CUT=BYTES     the first pread finds the file truncated to that size
 *   FAULT_GATE=FILE     calls of other threads than the main one wait until FILE.RANK is there
 *   FAULT_SAY=FILE      a word in FILE for every call: which thread made it, main or other
 * Build: cc -O2 -fPIC -shared -o libfaultio.so faultio.c -ldl */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of the file that a descriptor is open on, in `name`; empty if it cannot be told. */
static const char* name_of(int fd, char name[4096]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, name, 4095);
  name[n < 0 ? 0 : n] = 0;
  return name;
}

static int chosen(int fd) {
  const char* suffix = getenv("FAULT_PATH");
  if (!suffix) return 0;
  char name[4096];
  const size_t n = strlen(name_of(fd, name)), length = strlen(suffix);
  return n >= length && strcmp(name + n - length, suffix) == 0;
}

static int error_of(const char* variable) {
  const char* name = getenv(variable);
  if (!name) return 0;
  if (strcmp(name, "EIO") == 0) return EIO;
  if (strcmp(name, "ENOSPC") == 0) return ENOSPC;
  if (strcmp(name, "EDQUOT") == 0) return EDQUOT;
  if (strcmp(name, "EROFS") == 0) return EROFS;
  if (strcmp(name, "EMFILE") == 0) return EMFILE;
  if (strcmp(name, "EAGAIN") == 0) return EAGAIN;
  fprintf(stderr, "faultio: unknown error %s\n", name);
  exit(3);
}

/* As MPICH's and Open MPI's launchers tell it. */
static const char* rank_of_job(void) {
  const char* rank = getenv("PMI_RANK");
  if (!rank) rank = getenv("OMPI_COMM_WORLD_RANK");
  return rank ? rank : "";
}

static int on_this_rank(void) {
  const char* wanted = getenv("FAULT_RANK");
  return !wanted || strcmp(rank_of_job(), wanted) == 0;
}

static void say_who(void) {
  const char* file = getenv("FAULT_SAY");
  if (!file) return;
  const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND, 0666);
  const char* who = gettid() == getpid() ? "main\n" : "other\n";
  if (fd < 0 || write(fd, who, strlen(who)) < 0) abort();
  close(fd);
}

static void pass_gate(void) {
  const char* file = getenv("FAULT_GATE");
  char gate[4096];
  if (!file || gettid() == getpid()) return;
  snprintf(gate, sizeof gate, "%s.%s", file, rank_of_job());
  while (access(gate, F_OK) != 0) usleep(1000);
}

/* The bytes that a call may move, or -1 with errno set. */
static ssize_t allowed(int fd, size_t size, const char* variable) {
  static __thread long calls;
  if (!chosen(fd)) return (ssize_t)size;
  say_who();
  pass_gate();
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

static char written_to[4096]; /* by descriptor */

static ssize_t faulty_write(const char* name, int fd, const void* data, size_t size, off_t at) {
  static long written;
  const int no_pages = at > 0 && on_this_rank() ? error_of("FAULT_PAGES") : 0;
  char file[4096];
  if (no_pages && strstr(name_of(fd, file), "memfd:haichi")) {
    errno = no_pages;
    return -1;
  }
  const char* after = getenv("FAULT_AFTER");
  const int fails = !after || written >= atol(after);
  const ssize_t n = allowed(fd, size, fails ? "FAULT_WRITE" : "FAULT_NEVER");
  const ssize_t done = n < 0 ? n : ((write_fn)dlsym(RTLD_NEXT, name))(fd, data, (size_t)n, at);
  if (done > 0 && chosen(fd)) {
    written += done;
    if (fd < (int)sizeof written_to) written_to[fd] = 1;
  }
  const char* last = getenv("FAULT_KILL");
  if (last && on_this_rank() && written >= atol(last)) kill(getpid(), SIGKILL);
  return done;
}

static ssize_t faulty_read(const char* name, int fd, void* data, size_t size, off_t at) {
  static int cut;
  const char* left = getenv("FAULT_CUT");
  if (left && chosen(fd) && !cut++) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (truncate(link, atol(left))) abort();
  }
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

int close(int fd) {
  const int was_written = fd >= 0 && fd < (int)sizeof written_to && written_to[fd];
  const int error = was_written && on_this_rank() ? error_of("FAULT_CLOSE") : 0;
  if (was_written) written_to[fd] = 0;
  const int closed = (int)syscall(SYS_close, fd);
  if (!error) return closed;
  errno = error;
  return -1;
}

int memfd_create(const char* name, unsigned flags) {
  const int ours = strcmp(name, "haichi") == 0 && on_this_rank();
  const int error = ours ? error_of("FAULT_MEMORY") : 0;
  if (error) {
    errno = error;
    return -1;
  }
  return ((int (*)(const char*, unsigned))dlsym(RTLD_NEXT, "memfd_create"))(name, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  Dl_info from;
  const char* name = "";
  if (dladdr(__builtin_return_address(0), &from) && from.dli_fname) name = from.dli_fname;
  const int ours = strstr(name, "libhaichi") || strstr(name, "libstdc++");
  const int error = ours ? error_of("FAULT_THREAD") : 0;
  if (error) return error;
  return ((int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))dlsym(
      RTLD_NEXT, "pthread_create"))(thread, how, run, with);
}
