/* Times small calls of the C library beside what stands in front of them: the same function found
 * in the library itself and found as a program finds it, in turns.
 *
 * usage: small FILE BLOCKS
 *
 * FILE has 4 KiB at least. Prints "NAME STOCK FOUND" for each function and block: nanoseconds a
 * call. Without a preload both are the same function. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../clock.h"

enum { kCallsPerBlock = 500, kBytes = 64 };

typedef ssize_t read_t(int, void*, size_t);
typedef ssize_t pread_t(int, void*, size_t, off_t);
typedef ssize_t readv_t(int, const struct iovec*, int);
typedef size_t fread_t(void*, size_t, size_t, FILE*);
typedef ssize_t write_t(int, const void*, size_t);

static int file, null;
static FILE* stream;
static char data[kBytes];

/* Each makes the calls of a block by the given function. */
static void reads(void* function) {
  read_t* volatile const call = (read_t*)function;
  for (int i = 0; i < kCallsPerBlock; ++i) call(null, data, kBytes);
}

static void preads(void* function) {
  pread_t* volatile const call = (pread_t*)function;
  for (int i = 0; i < kCallsPerBlock; ++i) call(file, data, kBytes, 0);
}

static void readvs(void* function) {
  readv_t* volatile const call = (readv_t*)function;
  const struct iovec parts[] = {{data, kBytes / 2}, {data + kBytes / 2, kBytes / 2}};
  for (int i = 0; i < kCallsPerBlock; ++i) call(null, parts, 2);
}

static void freads(void* function) {
  fread_t* volatile const call = (fread_t*)function;
  rewind(stream);
  for (int i = 0; i < kCallsPerBlock; ++i) {
    if (i % (4096 / kBytes) == 0) rewind(stream);
    call(data, 1, kBytes, stream);
  }
}

static void writes(void* function) {
  write_t* volatile const call = (write_t*)function;
  for (int i = 0; i < kCallsPerBlock; ++i) call(null, data, kBytes);
}

static struct {
  const char* name;
  void (*block)(void* function);
  void* functions[2]; /* stock, found */
} kinds[] = {{"read", reads, {0}},
             {"pread", preads, {0}},
             {"readv", readvs, {0}},
             {"fread", freads, {0}},
             {"write", writes, {0}}};
enum { kKinds = sizeof kinds / sizeof *kinds };

static void need(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

int main(int count, char** words) {
  if (count != 3) return 2;
  file = open(words[1], O_RDONLY);
  null = open("/dev/null", O_RDWR);
  stream = fopen(words[1], "r");
  need(file >= 0 && null >= 0 && stream != NULL, words[1]);
  const long blocks = atol(words[2]);
  void* const library = dlopen(LIBC_SO, RTLD_NOW);
  need(library != NULL, LIBC_SO);
  for (int kind = 0; kind < kKinds; ++kind) {
    kinds[kind].functions[0] = dlsym(library, kinds[kind].name);
    kinds[kind].functions[1] = dlsym(RTLD_DEFAULT, kinds[kind].name);
    need(kinds[kind].functions[0] && kinds[kind].functions[1], kinds[kind].name);
  }
  double* const taken = malloc((size_t)blocks * kKinds * 2 * sizeof *taken);
  need(taken != NULL, "malloc");
  for (long block = 0; block < blocks; ++block)
    for (int kind = 0; kind < kKinds; ++kind)
      for (int turn = 0; turn < 2; ++turn) {
        const int which = (int)(block + turn) % 2; /* each is first in half of the blocks */
        const double begin = clock_now();
        kinds[kind].block(kinds[kind].functions[which]);
        taken[(block * kKinds + kind) * 2 + which] = 1e9 * (clock_now() - begin) / kCallsPerBlock;
      }
  for (long i = 0; i < blocks * kKinds; ++i)
    printf("%s %.3f %.3f\n", kinds[i % kKinds].name, taken[2 * i], taken[2 * i + 1]);
  return 0;
}
