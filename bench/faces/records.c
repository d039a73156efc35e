/* Times what the processes of a node do with a file: plain POSIX calls.
 *
 * usage: records PATH small COUNT REPETITIONS     lseek + write of 40 bytes, every second record
 *        records PATH large BYTES REPETITIONS     write of 1 MiB pieces
 *        records PATH small-read COUNT REPETITIONS    lseek + read of 40 bytes, every second record
 *        records PATH apart-read COUNT REPETITIONS    pread of 40 bytes, all over 64 MiB
 *        records PATH large-read BYTES REPETITIONS    read of 1 MiB pieces
 *        records PATH stat COUNT REPETITIONS      stat
 *        records PATH open COUNT REPETITIONS      open and close
 *
 * Prints a line for each repetition: nanoseconds per call, and the same with the fsync or close
 * behind the calls counted in. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../clock.h"

static double now(void) { return 1e9 * clock_now(); }

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

/* A file to read, as large as it must be. */
static int made(const char* path, long bytes) {
  enum { kPiece = 1 << 20 };
  static char piece[kPiece];
  memset(piece, 'm', kPiece);
  int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);
  need(fd >= 0, path);
  for (long done = 0; done < bytes; done += kPiece) {
    need(write(fd, piece, kPiece) == kPiece, "write");
  }
  need(close(fd) == 0, "close");
  fd = open(path, O_RDONLY);
  need(fd >= 0, path);
  return fd;
}

static void read_records(int fd, long count, int apart) {
  enum { kBytes = 64 << 20 };
  char record[40];
  const double start = now();
  for (long i = 0; i < count; ++i) {
    if (apart) {
      const long at = i * 7919 % (kBytes / 4096) * 4096;
      need(pread(fd, record, 40, at) == 40, "pread");
    } else {
      need(lseek(fd, i * 80, SEEK_SET) >= 0 && read(fd, record, 40) == 40, "read");
    }
  }
  const double each = (now() - start) / (double)count;
  printf("%.2f %.2f\n", each, each);
}

static void read_large(int fd, long bytes) {
  enum { kPiece = 1 << 20 };
  static char piece[kPiece];
  need(lseek(fd, 0, SEEK_SET) == 0, "lseek");
  const long count = bytes / kPiece;
  const double start = now();
  for (long i = 0; i < count; ++i) need(read(fd, piece, kPiece) == kPiece, "read");
  const double each = (now() - start) / (double)count;
  printf("%.2f %.2f\n", each, each);
}

static void by_name(const char* path, long count, int opens) {
  struct stat about;
  const double start = now();
  for (long i = 0; i < count; ++i) {
    if (opens) {
      const int fd = open(path, O_RDONLY);
      need(fd >= 0 && close(fd) == 0, "open");
    } else {
      need(stat(path, &about) == 0, "stat");
    }
  }
  const double each = (now() - start) / (double)count;
  printf("%.2f %.2f\n", each, each);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr,
            "usage: records PATH small|large|small-read|apart-read|large-read|stat|open "
            "COUNT|BYTES REPETITIONS\n");
    return 2;
  }
  const long size = atol(argv[3]), repetitions = atol(argv[4]);
  if (strcmp(argv[2], "large") == 0) {
    for (long i = 0; i < repetitions; ++i) large(argv[1], size);
    return 0;
  }
  const int named = strcmp(argv[2], "stat") == 0, opens = strcmp(argv[2], "open") == 0;
  const int reads = strcmp(argv[2], "large-read") == 0, apart = strcmp(argv[2], "apart-read") == 0;
  if (named || opens || reads || apart || strcmp(argv[2], "small-read") == 0) {
    const int fd = made(argv[1], reads ? size : 64 << 20);
    for (long i = 0; i < repetitions; ++i) {
      if (named || opens) {
        by_name(argv[1], size, opens);
      } else if (reads) {
        read_large(fd, size);
      } else {
        read_records(fd, size, apart);
      }
    }
    need(close(fd) == 0, "close");
    return 0;
  }
  const int fd = open(argv[1], O_CREAT | O_RDWR, 0644);
  need(fd >= 0, argv[1]);
  for (long i = 0; i <= repetitions; ++i) small(fd, size); /* the first makes the file */
  need(close(fd) == 0, "close");
  return 0;
}
