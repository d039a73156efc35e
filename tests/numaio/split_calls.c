// split_calls FILE CASE [SEED]: calls that a preloaded libhaichi-posix may split, and what goes on
// beside them. FILE has numbers of 8 bytes, each the one of its place. Cases: random (prints what
// each of some hundred random calls gave, for a comparison of two runs), shared, signals, jumps,
// forks, first, shrinks, cancelled. Prints "right" at the end.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kPage = 4096, kMost = 3 << 20, kCalls = 400, kLarge = 1 << 20 };

static const char* path;
static uint64_t state;

static void fail(const char* what) {
  printf("wrong: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static char* memory(size_t bytes) {
  char* made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) fail("no memory");
  return made;
}

static int opened(int flags) {
  const int fd = open(path, flags, 0600);
  if (fd < 0) fail("the file");
  return fd;
}

static uint64_t hash(const char* data, ssize_t size) {
  uint64_t sum = 14695981039346656037u;
  for (ssize_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, 8);
    sum = (sum ^ word) * 1099511628211u;
  }
  for (ssize_t i = size & ~7; i < size; i++) sum = (sum ^ (uint8_t)data[i]) * 1099511628211u;
  return sum;
}

// Whether data is what the file has from `offset` on, a multiple of 8.
static void check(const char* data, ssize_t size, off_t offset) {
  for (ssize_t i = 0; i + 8 <= size; i += 8) {
    uint64_t word;
    memcpy(&word, data + i, 8);
    if (word != (uint64_t)(offset + i) / 8) fail("other bytes");
  }
}

// Sizes around the borders of pages, and any.
static size_t some_size(void) {
  const size_t size = draw(kMost);
  switch (draw(4)) {
    case 0:
      return size / kPage * kPage;
    case 1:
      return draw(3 * kPage);
    default:
      return size;
  }
}

static void random_calls(void) {
  char* const room = memory(kMost + 16 * kPage);
  char* const data = room + 8 * kPage;
  struct stat about;
  const int fds[] = {opened(O_RDONLY),    opened(O_RDWR | O_APPEND),
                     opened(O_WRONLY),    open(path, O_RDONLY | O_DIRECT),
                     open("/", O_RDONLY), -1};
  const int copy = dup(fds[0]);
  FILE* stream = fopen(path, "rb");
  if (fstat(fds[0], &about)) fail("fstat");
  const off_t whole = about.st_size;
  int hole = 0;  // page of the buffer that can't be touched
  for (int i = 0; i < kCalls; i++) {
    const int fd = draw(3) ? fds[0] : fds[draw(sizeof fds / sizeof fds[0])];
    const size_t size = some_size();
    const size_t at = draw(3) ? draw(2 * kPage) : draw(2) * kPage;
    off_t offset = (off_t)draw((uint64_t)whole + 2 * kPage);
    if (draw(4) == 0) offset = whole - (off_t)some_size();
    char* const to = data + at;
    if (draw(8) == 0) {
      hole = 1 + (int)draw(kMost / kPage);
      if (mprotect(data + hole * kPage, kPage, PROT_NONE)) fail("mprotect");
    }
    struct iovec parts[4];
    const int count = 1 + (int)draw(4);
    size_t begin = 0;
    for (int part = 0; part < count; part++) {
      const size_t some = part + 1 < count ? draw(size - begin + 1) : size - begin;
      parts[part] = (struct iovec){to + begin, some};
      begin += some;
    }
    const int what = (int)draw(11);
    ssize_t got = -2;
    errno = 0;
    switch (what) {
      case 0:
      case 1:
        got = read(fd, to, size);
        break;
      case 2:
        got = pread(fd, to, size, offset);
        break;
      case 3:
        got = readv(fd, parts, count);
        break;
      case 4:
        got = preadv(fd, parts, count, offset);
        break;
      case 5:
        got = preadv2(fd, parts, count, draw(2) ? -1 : offset, 0);
        break;
      case 6:
        got = lseek(fd, offset, SEEK_SET);
        break;
      case 7:
        got = read(draw(2) ? copy : fd, draw(9) ? to : NULL, size);
        break;
      case 8:
        got = hole ? 0 : (ssize_t)fread(to, 1 + draw(2), size / 2, stream);
        break;
      case 9:
        got =
            fseek(stream, draw(2) ? offset : -(long)draw(2 * kPage), draw(2) ? SEEK_SET : SEEK_CUR);
        break;
      case 10:
        got = draw(3) ? getc(stream) : ungetc((int)draw(256), stream);
        break;
    }
    const int error = errno;
    if (hole && mprotect(data + hole * kPage, kPage, PROT_READ | PROT_WRITE)) fail("mprotect");
    hole = 0;
    const int reads = got > 0 && (what <= 5 || what == 7 || what == 8);
    printf("%d: call %d size %zu gave %zd errno %d bytes %016llx at %lld %lld stream %ld %d %d\n",
           i, what, size, got, error, (unsigned long long)(reads ? hash(to, got) : 0),
           (long long)lseek(fds[0], 0, SEEK_CUR), (long long)lseek(fds[1], 0, SEEK_CUR),
           ftell(stream), feof(stream), ferror(stream));
    if (draw(20) == 0) clearerr(stream);
    // Reads behind a change of the size.
    if (draw(40) == 0 && ftruncate(fds[2], (off_t)draw((uint64_t)whole))) fail("ftruncate");
  }
}

static int shared_fd;

// Reads by the common position until the end; returns the bytes, each of which nobody else has.
static long long take_all(unsigned char* seen) {
  char* const data = memory(kLarge);
  long long sum = 0;
  for (;;) {
    const ssize_t got = read(shared_fd, data, kLarge);
    if (got < 0) fail("read");
    if (got == 0) break;
    uint64_t first;
    memcpy(&first, data, 8);
    check(data, got, (off_t)first * 8);
    if (__atomic_fetch_add(&seen[first * 8 / kPage], 1, __ATOMIC_RELAXED)) fail("read twice");
    sum += got;
  }
  munmap(data, kLarge);
  return sum;
}

static long long taken;

static void* take_all_in_thread(void* seen) {
  __atomic_fetch_add(&taken, take_all(seen), __ATOMIC_RELAXED);
  return NULL;
}

// Threads and processes that have one position get each byte once.
static void shared(void) {
  shared_fd = opened(O_RDONLY);
  struct stat about;
  if (fstat(shared_fd, &about)) fail("fstat");
  const size_t pages = (size_t)about.st_size / kPage + 1;
  struct {
    long long bytes;
    unsigned char seen[];
  }* const all =
      mmap(NULL, sizeof *all + pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int round = 0; round < 5; round++) {
    memset(all, 0, sizeof *all + pages);
    lseek(shared_fd, 0, SEEK_SET);
    taken = 0;
    const pid_t child = fork();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, take_all_in_thread, all->seen);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    __atomic_fetch_add(&all->bytes, taken, __ATOMIC_RELAXED);
    if (child == 0) _exit(0);
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) fail("the child");
    if (all->bytes != about.st_size) fail("not each byte once");
    if (lseek(shared_fd, 0, SEEK_CUR) != about.st_size) fail("the position");
  }
}

static int handler_fd;
static char* handler_data;
static volatile int handled;
static sigjmp_buf back;

static void on_signal(int number) {
  (void)number;
  if (pread(handler_fd, handler_data, kLarge, kPage) != kLarge) _exit(3);
  handled++;
}

static void on_signal_leave(int number) {
  on_signal(number);
  siglongjmp(back, 1);
}

static void tick(int microseconds) {
  const struct itimerval each = {{0, microseconds}, {0, microseconds}};
  if (setitimer(ITIMER_REAL, &each, NULL)) fail("setitimer");
}

// A handler that reads may have interrupted anything: malloc too, and a read.
static void signals(int leaves) {
  handler_fd = opened(O_RDONLY);
  handler_data = memory(kLarge);
  const int fd = opened(O_RDONLY);
  char* const data = memory(kMost);
  struct sigaction action = {.sa_handler = leaves ? on_signal_leave : on_signal,
                             .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  volatile int rounds = 0;
  if (sigsetjmp(back, 1) == 0) tick(2000);
  while (handled < 100 || rounds < 100) {
    rounds++;
    // A jump out of malloc would break it, haichi or not.
    for (int i = 0; !leaves && i < 200; i++) free(malloc((size_t)i * 1000));
    if (pread(fd, data, kMost, 0) != kMost) fail("not all bytes");
    check(data, kMost, 0);
  }
  tick(0);
}

static volatile int stop;

static void* read_on(void* unused) {
  const int fd = opened(O_RDONLY);
  char* const data = memory(kMost);
  while (!stop) {
    if (pread(fd, data, kMost, 0) != kMost) fail("not all bytes");
    check(data, kMost, 0);
  }
  munmap(data, kMost);
  close(fd);
  return unused;
}

// Children that are made while a thread reads read, too.
static void forks(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, read_on, NULL);
  const int fd = opened(O_RDONLY);
  char* const data = memory(kMost);
  for (int i = 0; i < 40; i++) {
    const pid_t child = i % 2 ? vfork() : fork();
    if (child == 0) {
      const ssize_t got = pread(fd, data, kMost, kPage);
      if (i % 4 == 3) execl("/bin/true", "true", (char*)NULL);
      _exit(got == kMost ? 0 : 4);
    }
    int status = -1;
    if (waitpid(child, &status, 0) != child || status != 0) fail("a child");
    check(data, i % 2 ? kMost : 0, kPage);
    if (pread(fd, data, kMost, 0) != kMost) fail("not all bytes behind a child");
    check(data, kMost, 0);
  }
  stop = 1;
  pthread_join(thread, NULL);
}

static void* read_first(void* unused) {
  if (pread(opened(O_RDONLY), memory(kMost), kMost, 0) != kMost) fail("not all bytes");
  stop = 1;
  return unused;
}

// Children that are made one behind the other while a thread's read is the first of its process
// read, too. Much memory makes it take a while to make one.
static void first_read(void) {
  enum { kMuch = 64 << 20 };
  char* const much = memory(kMuch);
  madvise(much, kMuch, MADV_NOHUGEPAGE);
  memset(much, 1, kMuch);
  pthread_t thread;
  pthread_create(&thread, NULL, read_first, NULL);
  int children = 0, status = 0;
  for (; !stop; children++)
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      read_first(NULL);
      _exit(0);
    }
  for (; children > 0; children--)
    if (wait(&status) < 0 || status != 0) fail("a child");
  pthread_join(thread, NULL);
}

static void first(void) {
  for (int i = 0; i < 30; i++) {
    const pid_t process = fork();
    if (process == 0) {
      alarm(10);
      first_read();
      _exit(0);
    }
    int status = -1;
    if (waitpid(process, &status, 0) != process || status != 0) fail("a process");
  }
}

static void* shrink_on(void* unused) {
  const int fd = opened(O_RDWR);
  struct stat about;
  fstat(fd, &about);
  while (!stop) {
    if (ftruncate(fd, about.st_size / 3) || ftruncate(fd, about.st_size)) fail("ftruncate");
  }
  close(fd);
  return unused;
}

// What is read is the file's, or zeros where it has been cut off; the position says how much.
static void shrinks(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, shrink_on, NULL);
  const int fd = opened(O_RDONLY);
  char* const data = memory(kMost);
  for (int i = 0; i < 500; i++) {
    const off_t begin = (off_t)draw(kMost) / 8 * 8;
    lseek(fd, begin, SEEK_SET);
    const ssize_t got = read(fd, data, kMost);
    if (got < 0) fail("read");
    if (lseek(fd, 0, SEEK_CUR) != begin + got) fail("the position");
    for (ssize_t at = 0; at + 8 <= got; at += 8) {
      uint64_t word;
      memcpy(&word, data + at, 8);
      if (word != 0 && word != (uint64_t)(begin + at) / 8) fail("other bytes");
    }
  }
  stop = 1;
  pthread_join(thread, NULL);
}

static void* read_without_end(void* fd) {
  char* const data = memory(kMost);
  for (;;) {
    if (pread(*(int*)fd, data, kMost, 0) != kMost) fail("not all bytes");
  }
  return NULL;
}

// A thread is cancelled in a read; others go on.
static void cancelled(void) {
  int fd = opened(O_RDONLY);
  char* const data = memory(kMost);
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    void* result;
    pthread_create(&thread, NULL, read_without_end, &fd);
    usleep(5000);
    if (pthread_cancel(thread) || pthread_join(thread, &result) || result != PTHREAD_CANCELED)
      fail("not cancelled");
    if (pread(fd, data, kMost, 0) != kMost) fail("not all bytes");
    check(data, kMost, 0);
  }
}

int main(int count, char** words) {
  if (count < 3) return 2;
  path = words[1];
  state = count > 3 ? strtoull(words[3], NULL, 10) : 1;
  alarm(50);
  if (!strcmp(words[2], "random")) random_calls();
  if (!strcmp(words[2], "shared")) shared();
  if (!strcmp(words[2], "signals")) signals(0);
  if (!strcmp(words[2], "jumps")) signals(1);
  if (!strcmp(words[2], "forks")) forks();
  if (!strcmp(words[2], "first")) first();
  if (!strcmp(words[2], "shrinks")) shrinks();
  if (!strcmp(words[2], "cancelled")) cancelled();
  puts("right");
  return 0;
}
