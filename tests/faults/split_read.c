// split_read CASE FILE: reads FILE, whose byte i is (i * 7 + i / 4096) & 255, by haichi_io_pread()
// under a fault, and by pread(2) under the same, and says "right" if both gave the same.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <haichi/io.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static int fd;
static size_t size;

static void fail(const char* what) {
  struct haichi_io_how how;
  haichi_io_last(&how);
  printf("wrong: %s (last: %d threads, %s)\n", what, how.threads, how.why);
  exit(1);
}

static char* memory(size_t bytes) {
  char* made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) fail("no memory");
  return made;
}

static void check(const char* buffer, size_t bytes, size_t offset) {
  for (size_t i = 0; i < bytes; i++)
    if (buffer[i] != (char)((offset + i) * 7 + (offset + i) / 4096)) fail("other bytes");
}

static int split(void) {
  struct haichi_io_how how;
  haichi_io_last(&how);
  return strcmp(how.why, "split by the nodes of its pages") == 0;
}

static void read_whole(void) {
  char* buffer = memory(size);
  if (haichi_io_pread(fd, buffer, size, 0) != (ssize_t)size) fail("not all bytes");
  check(buffer, size, 0);
  munmap(buffer, size);
}

// Both calls into memory whose last page can't be written, and into none at all.
static void bad_memory(void) {
  char *ours = memory(size), *plain = memory(size);
  mprotect(ours + size - 4096, 4096, PROT_NONE);
  mprotect(plain + size - 4096, 4096, PROT_NONE);
  const ssize_t expected = pread(fd, plain, size, 0), got = haichi_io_pread(fd, ours, size, 0);
  if (!split()) fail("it was not split");
  if (got != expected) fail("another number of bytes");
  check(ours, (size_t)got, 0);
  errno = 0;
  if (haichi_io_pread(fd, NULL, size, 0) != -1 || errno != EFAULT) fail("memory that is not there");
}

static void bad_files(void) {
  char* buffer = memory(size);
  if (haichi_io_pread(-1, buffer, size, 0) != -1 || errno != EBADF) fail("no file");
  const int folder = open("/", O_RDONLY);
  if (haichi_io_pread(folder, buffer, size, 0) != -1 || errno != EISDIR) fail("a folder");
  const int only_written = open("/dev/null", O_WRONLY);
  if (haichi_io_pread(only_written, buffer, size, 0) != -1 || errno != EBADF)
    fail("not for reading");
  if (haichi_io_pread(fd, buffer, size, -1) != -1 || errno != EINVAL) fail("a negative offset");
  int ends[2];
  if (pipe(ends) || write(ends[1], "abc", 3) != 3) fail("no pipe");
  if (haichi_io_read(ends[0], buffer, size) != 3 || memcmp(buffer, "abc", 3)) fail("a pipe");
  if (haichi_io_pread(ends[0], buffer, size, 0) != -1 || errno != ESPIPE) fail("a pipe's offset");
  lseek(fd, 100, SEEK_SET);
  if (haichi_io_read(fd, buffer, size) != (ssize_t)size - 100) fail("from the position");
  check(buffer, size - 100, 100);
  if (lseek(fd, 0, SEEK_CUR) != (off_t)size) fail("the position did not move");
  if (haichi_io_read(fd, buffer, size) != 0) fail("the end");
}

static void one_processor(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(sched_getcpu(), &set);
  sched_setaffinity(0, sizeof set, &set);
  read_whole();
  if (split()) fail("it was split on one processor");
}

static void* reads_on(void* nothing) {
  for (int i = 0; i < 40; i++) read_whole();
  return nothing;
}

static void forks(void) {
  read_whole();
  pthread_t thread;
  pthread_create(&thread, NULL, reads_on, NULL);
  for (int i = 0; i < 15; i++) {
    const pid_t child = fork();
    if (child == 0) {
      read_whole();
      read_whole();
      if (!split()) fail("a child's read was not split");
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) fail("a child");
  }
  pthread_join(thread, NULL);
}

static void forbid(const int* calls, int count, int error) {
  struct sock_filter filter[64] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  int n = 1;
  for (int i = 0; i < count; i++) {
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {n, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    fail("no filter of system calls");
}

static void forbidden_queries(void) {
  const int calls[] = {SYS_move_pages, SYS_get_mempolicy, SYS_mbind, SYS_set_mempolicy,
                       SYS_mincore};
  forbid(calls, 5, EPERM);
  read_whole();
}

static void no_threads(void) {
  const int calls[] = {SYS_clone, SYS_clone3};
  forbid(calls, 2, EAGAIN);
  read_whole();
  struct haichi_io_how how;
  haichi_io_last(&how);
  if (how.threads != 1) fail("more threads than can be");
}

static volatile sig_atomic_t signals;
static void count(int number) { signals += number == SIGALRM; }

static void alarm_each(long us, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval timer = {{0, us}, {0, us}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

static void interrupted(void) {
  alarm_each(300, count);
  for (int i = 0; i < 20; i++) read_whole();
  if (signals == 0) fail("no signal came");
}

static sigjmp_buf back;
static void leap(int number) { siglongjmp(back, number); }

// The handler leaves the call, and the memory goes at once.
static void leaps(void) {
  volatile int left = 60;
  char* volatile buffer = NULL;
  if (sigsetjmp(back, 1) != 0) left--;
  alarm_each(700, left > 0 ? leap : SIG_IGN);
  while (left > 0) {
    if (buffer != NULL) munmap(buffer, size);
    buffer = memory(size);
    if (haichi_io_pread(fd, buffer, size, 0) != (ssize_t)size) fail("not all bytes");
  }
}

static char* shrinking;
static volatile int over;
static void* shrinks(void* nothing) {
  while (!over) {
    if (truncate(shrinking, (off_t)size / 3) || truncate(shrinking, (off_t)size)) break;
  }
  return nothing;
}

// The end of the file moves all the time: as many bytes as some end of it allows, and none else.
static void truncated(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, shrinks, NULL);
  char* buffer = memory(size);
  for (int i = 0; i < 60; i++) {
    const ssize_t got = haichi_io_pread(fd, buffer, size, 0);
    if (got < (ssize_t)size / 3 || got > (ssize_t)size) fail("more or less than there ever was");
    check(buffer, size / 3, 0);
  }
  over = 1;
  pthread_join(thread, NULL);
}

int main(int count_of_words, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"memory", bad_memory},
               {"files", bad_files},
               {"processor", one_processor},
               {"fork", forks},
               {"leap", leaps},
               {"interrupted", interrupted},
               {"forbidden", forbidden_queries},
               {"threads", no_threads},
               {"truncated", truncated}};
  if (count_of_words != 3 || (fd = open(words[2], O_RDWR)) < 0) return 2;
  shrinking = words[2];
  struct stat about;
  fstat(fd, &about);
  size = (size_t)about.st_size;
  const struct haichi_io_options options = {0, 64 << 10, 64 << 10, 1};
  if (haichi_io_set_options(&options)) fail("options");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (strcmp(cases[i].name, words[1]) == 0) {
      cases[i].run();
      puts("right");
      return 0;
    }
  return 2;
}
