// own_filter FILE ANSWER CALL,... HOW SEED: a program that forbids itself system calls (numbers;
// see filter.h) between large reads, by prctl, syscall or for all its threads (HOW is prctl,
// seccomp or all), while another one of its threads reads. Writes what each read gave, for a
// comparison of two runs.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "filter.h"

enum { kLarge = 1 << 20, kReads = 12 };

static const char* path;
static uint64_t state;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (state >> 33) % below;
}

static uint64_t sum(const char* data, ssize_t size) {
  uint64_t made = 1;
  for (ssize_t i = 0; i < size; i++) made = made * 1099511628211u + (unsigned char)data[i];
  return made;
}

static void some_reads(int fd, char* data, int out, const char* when) {
  for (int i = 0; i < kReads; i++) {
    const struct iovec parts[] = {{data, kLarge / 2}, {data + kLarge / 2, kLarge / 2}};
    const off_t offset = (off_t)draw(kLarge);
    const int what = (int)draw(5);
    errno = 0;
    ssize_t got = -2;
    if (what == 0) got = read(fd, data, kLarge);
    if (what == 1) got = pread(fd, data, kLarge, offset);
    if (what == 2) got = readv(fd, parts, 2);
    if (what == 3) got = preadv(fd, parts, 2, offset);
    if (what == 4) got = preadv2(fd, parts, 2, offset, 0);
    char line[128];
    const int size = snprintf(line, sizeof line, "%s %d: call %d gave %zd errno %d bytes %llx\n",
                              when, i, what, got, errno, (unsigned long long)sum(data, got));
    if (write(out, line, (size_t)size) != size) _exit(3);
  }
}

// Of the plain call that this makes nothing else is ever forbidden.
static void* read_on(void* data) {
  const int fd = open(path, O_RDONLY);
  for (;;)
    if (pread(fd, data, kLarge, 0) != kLarge) _exit(4);
}

int main(int count, char** words) {
  if (count != 6) return 2;
  path = words[1];
  state = strtoull(words[5], NULL, 10);
  const int fd = open(path, O_RDONLY);
  char* const data =
      mmap(NULL, 2 * kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_t beside;
  const int all = strcmp(words[4], "all") == 0;
  if (all && pthread_create(&beside, NULL, read_on, data + kLarge) != 0) return 2;
  if (draw(4) != 0) some_reads(fd, data, 1, "before");
  const unsigned flags = all                                ? SECCOMP_FILTER_FLAG_TSYNC
                         : strcmp(words[4], "seccomp") == 0 ? SECCOMP_FILTER_FLAG_LOG
                                                            : 0;
  if (!filter_calls(words[2], words[3], flags)) _exit(77);
  some_reads(fd, data, 1, "behind");
  if (write(1, "right\n", 6) != 6) _exit(3);
  _exit(0);
}
