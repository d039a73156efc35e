/* Times what the processes of a node do with a file: plain POSIX calls.
 *
 * usage: records PATH small COUNT REPETITIONS     lseek + write of 40 bytes, every second record
 *        records PATH large BYTES REPETITIONS     write of 1 MiB pieces
 *
 * Prints a line for each repetition: nanoseconds per call, and the same with the fsync or close
 * behind the calls counted in. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void need(int good, const char* what) {
  if (good) return;
  perror(what);
  exit(1);
}

static void small(int fd, long count) {
  char record[40];
  memset(record, 'r', sizeof record);
  const double start = now();
  for (long i = 0; i < count; ++i) {
    need(lseek(fd, i * 80, SEEK_SET) >= 0 && write(fd, record, 40) == 40, "write");
  }
  const double called = now();
  need(fsync(fd) == 0, "fsync");
  printf("%.2f %.2f\n", (called - start) / (double)count, (now() - start) / (double)count);
}

static void large(const char* path, long bytes) {
  enum { kPiece = 1 << 20 };
  static char piece[kPiece];
  memset(piece, 'l', kPiece);
  const long count = bytes / kPiece;
  const double start = now();
  const int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  need(fd >= 0, path);
  for (long i = 0; i < count; ++i) need(write(fd, piece, kPiece) == kPiece, "write");
  const double called = now();
  need(close(fd) == 0, "close");
  printf("%.2f %.2f\n", (called - start) / (double)count, (now() - start) / (double)count);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: records PATH small|large COUNT|BYTES REPETITIONS\n");
    return 2;
  }
  const long size = atol(argv[3]), repetitions = atol(argv[4]);
  if (strcmp(argv[2], "large") == 0) {
    for (long i = 0; i < repetitions; ++i) large(argv[1], size);
    return 0;
  }
  const int fd = open(argv[1], O_CREAT | O_RDWR, 0644);
  need(fd >= 0, argv[1]);
  for (long i = 0; i <= repetitions; ++i) small(fd, size); /* the first makes the file */
  need(close(fd) == 0, "close");
  return 0;
}
