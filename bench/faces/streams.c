/* Processes of a node that write or read one file together, or make small files: plain POSIX calls.
 *
 * usage: streams PATH write|read segments|interleaved|whole PIECE BYTES RANKS FIRST COUNT AT
 *        streams FOLDER files PIECE FILES RANKS FIRST COUNT AT
 *
 * COUNT processes, ranks FIRST and on of RANKS, begin when the machine's monotonic clock is at AT
 * seconds. PIECE is a multiple of 8. BYTES, a multiple of PIECE, or FILES are each rank's: its
 * segment of the file, every RANKS-th piece, the whole file for each, or files of PIECE bytes. What
 * is read is compared with what `write` has written. Prints seconds from AT until the last close,
 * and of processor that a process took between open and close, in the mean. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../clock.h"

static double processor(void) {
  struct timespec used;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

static void need(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

/* What the file has there: words that tell their own place, for pieces of whole words. */
static void fill(char* piece, long bytes, long at) {
  for (long i = 0; i < bytes; i += 8) {
    const uint64_t word = (uint64_t)((at + i) / 8) * UINT64_C(0x9e3779b97f4a7c15);
    memcpy(piece + i, &word, 8);
  }
}

struct Part {
  const char* path;
  int reads;
  char shape; /* its first letter */
  long piece, bytes, ranks, rank;
};

/* Where a rank's piece number k is. */
static long offset_of(const struct Part* p, long k) {
  switch (p->shape) {
    case 'i':
      return (k * p->ranks + p->rank) * p->piece;
    case 's':
      return p->rank * p->bytes + k * p->piece;
    default:
      return k * p->piece;
  }
}

/* Seconds of processor between open and close. */
static double stream(const struct Part* p, double at) {
  char* piece = malloc((size_t)p->piece);
  char* expected = malloc((size_t)p->piece);
  need(piece && expected, "memory");
  const int flags = p->reads ? O_RDONLY : O_WRONLY | O_CREAT;
  while (clock_now() < at) usleep(200);
  const int fd = open(p->path, flags, 0644);
  need(fd >= 0, p->path);
  const double begin = processor();
  for (long k = 0; k < p->bytes / p->piece; ++k) {
    const long offset = offset_of(p, k);
    fill(expected, p->piece, offset);
    if (p->reads) {
      need(pread(fd, piece, (size_t)p->piece, offset) == p->piece, "pread");
      if (memcmp(piece, expected, (size_t)p->piece) == 0) continue;
      fprintf(stderr, "%s has other bytes at %ld than were written\n", p->path, offset);
      exit(3);
    }
    need(pwrite(fd, expected, (size_t)p->piece, offset) == p->piece, "pwrite");
  }
  const double used = processor() - begin;
  need(close(fd) == 0, "close");
  return used;
}

static double files(const struct Part* p, double at) {
  char* piece = calloc(1, (size_t)p->piece);
  char name[4096];
  need(piece != NULL, "memory");
  while (clock_now() < at) usleep(200);
  const double begin = processor();
  for (long k = 0; k < p->bytes; ++k) {
    snprintf(name, sizeof name, "%s/%ld-%ld", p->path, p->rank, k);
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0644);
    need(fd >= 0, name);
    need(write(fd, piece, (size_t)p->piece) == p->piece, "write");
    need(close(fd) == 0, "close");
  }
  return processor() - begin;
}

static int usage(void) {
  fprintf(stderr,
          "usage: streams PATH write|read segments|interleaved|whole PIECE BYTES RANKS FIRST "
          "COUNT AT\n"
          "       streams FOLDER files PIECE FILES RANKS FIRST COUNT AT\n");
  return 2;
}

int main(int argc, char** argv) {
  const int small = argc == 9 && strcmp(argv[2], "files") == 0;
  if (!small && argc != 10) return usage();
  char** number = argv + (small ? 3 : 4);
  struct Part part = {.path = argv[1],
                      .reads = strcmp(argv[2], "read") == 0,
                      .shape = small ? 0 : argv[3][0],
                      .piece = atol(number[0]),
                      .bytes = atol(number[1]),
                      .ranks = atol(number[2])};
  const long first = atol(number[3]), count = atol(number[4]);
  const double at = atof(number[5]);
  if (part.piece <= 0 || part.piece % 8 || part.bytes <= 0 || part.ranks <= 0 || count <= 0)
    return usage();
  double* used = mmap(NULL, (size_t)count * sizeof *used, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  need(used != MAP_FAILED, "memory");
  for (long i = 0; i < count; ++i) {
    const pid_t child = fork();
    need(child >= 0, "fork");
    if (child) continue;
    part.rank = first + i;
    used[i] = (small ? files : stream)(&part, at);
    return 0;
  }
  int bad = 0, status;
  while (wait(&status) > 0) bad |= status != 0;
  const double seconds = clock_now() - at;
  double sum = 0;
  for (long i = 0; i < count; ++i) sum += used[i];
  if (!bad) printf("%.6f %.6f\n", seconds, sum / (double)count);
  return bad;
}
