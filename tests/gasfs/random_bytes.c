/* Random calls on the bytes of one file, in the manner of fsx: each read, by call or by map, gives
 * what a copy in memory says, and so does all of the file at the end.
 *
 * usage: random_bytes PATH SEED OPERATIONS [nomap]
 *
 * Without maps a preloaded program keeps its ring. Says which call differed, with its seed and the
 * calls before it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kMost = 400000, kLargest = 70000, kKept = 40 };

static char good[kMost], bytes[kMost];
static size_t size;
static int fd;
static const char* path;
static unsigned long seed, state, step;
static char calls[kKept][120];

static unsigned long draw(unsigned long below) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return state % below;
}

static void note(const char* format, ...) {
  va_list words;
  va_start(words, format);
  vsnprintf(calls[step % kKept], sizeof *calls, format, words);
  va_end(words);
}

static void wrong(const char* what, long at) {
  fprintf(stderr, "random_bytes: seed %lu, call %lu: %s at %ld (%m); the calls before:\n", seed,
          step, what, at);
  for (unsigned long i = step > kKept ? step - kKept + 1 : 0; i <= step; ++i) {
    fprintf(stderr, "  %lu %s\n", i, calls[i % kKept]);
  }
  exit(1);
}

static void need(int worked, const char* what) {
  if (!worked) wrong(what, -1);
}

static void compare(const char* got, size_t offset, size_t length) {
  for (size_t i = 0; i < length; ++i) {
    if (got[i] != good[offset + i]) wrong("another byte", (long)(offset + i));
  }
}

/* An offset, often one at which something else begins. */
static size_t some_offset(size_t below) {
  if (below == 0) return 0;
  const size_t rough = draw(below);
  switch (draw(4)) {
    case 0:
      return rough / 4096 * 4096;
    case 1:
      return rough / 40 * 40;
    case 2:
      return size && size <= below ? size - draw(size < 3 ? size : 3) - 1 : rough;
    default:
      return rough;
  }
}

static size_t some_length(size_t most) {
  static const size_t usual[] = {1, 40, 511, 4096, 65536};
  const size_t length = draw(2) ? usual[draw(5)] : 1 + draw(kLargest);
  return length < most ? length : most;
}

static void fill(size_t length) {
  for (size_t i = 0; i < length; ++i) bytes[i] = (char)(step * 7 + i * 13 + i / 251);
}

/* What a write leaves in the copy. */
static void written(size_t offset, size_t length) {
  if (offset > size) memset(good + size, 0, offset - size);
  memcpy(good + offset, bytes, length);
  if (offset + length > size) size = offset + length;
}

static void do_write(void) {
  const size_t offset = some_offset(kMost - 1), length = some_length(kMost - offset);
  fill(length);
  const int how = (int)draw(4);
  note("write by way %d of %zu at %zu", how, length, offset);
  ssize_t done = -1;
  const size_t first = length / 3;
  struct iovec parts[2] = {{bytes, first}, {bytes + first, length - first}};
  if (how < 2) need(lseek(fd, (off_t)offset, SEEK_SET) == (off_t)offset, "lseek");
  if (how == 0) done = write(fd, bytes, length);
  if (how == 1) done = writev(fd, parts, 2);
  if (how == 2) done = pwrite(fd, bytes, length, (off_t)offset);
  if (how == 3) done = pwritev(fd, parts, 2, (off_t)offset);
  need(done == (ssize_t)length, "write");
  written(offset, length);
}

static void do_append(void) {
  const size_t length = some_length(kMost - size);
  if (length == 0) return;
  fill(length);
  note("append %zu", length);
  const int other = open(path, O_WRONLY | O_APPEND);
  need(other >= 0 && write(other, bytes, length) == (ssize_t)length, "append");
  need(close(other) == 0, "close");
  written(size, length);
}

static void do_read(void) {
  const size_t offset = some_offset(kMost), length = some_length(kMost);
  const int how = (int)draw(3);
  note("read by way %d of %zu at %zu", how, length, offset);
  ssize_t got = -1;
  struct iovec parts[2] = {{bytes, length / 2}, {bytes + length / 2, length - length / 2}};
  if (how == 0) need(lseek(fd, (off_t)offset, SEEK_SET) == (off_t)offset, "lseek");
  if (how == 0) got = read(fd, bytes, length);
  if (how == 1) got = pread(fd, bytes, length, (off_t)offset);
  if (how == 2) got = preadv(fd, parts, 2, (off_t)offset);
  const size_t there = offset >= size ? 0 : size - offset < length ? size - offset : length;
  need(got == (ssize_t)there, "read");
  compare(bytes, offset, there);
}

static void do_truncate(void) {
  const size_t to = draw(4) ? some_offset(kMost) : 0;
  note("truncate from %zu to %zu", size, to);
  need((draw(2) ? ftruncate(fd, (off_t)to) : truncate(path, (off_t)to)) == 0, "truncate");
  if (to > size) memset(good + size, 0, to - size);
  size = to;
}

static void do_allocate(void) {
  const size_t offset = some_offset(kMost - 1), length = some_length(kMost - offset);
  note("allocate %zu at %zu", length, offset);
  need(posix_fallocate(fd, (off_t)offset, (off_t)length) == 0, "posix_fallocate");
  if (offset + length > size) {
    memset(good + size, 0, offset + length - size);
    size = offset + length;
  }
}

static void do_copy(void) {
  if (size < 2) return;
  const size_t length = some_length(size / 2), from = draw(size / 2 - length + 1);
  const size_t to = from + length + draw(kMost - from - 2 * length);
  note("copy %zu from %zu to %zu", length, from, to);
  off_t source = (off_t)from, target = (off_t)to;
  for (size_t done = 0; done < length;) {
    const ssize_t part = copy_file_range(fd, &source, fd, &target, length - done, 0);
    need(part > 0, "copy_file_range");
    done += (size_t)part;
  }
  memcpy(bytes, good + from, length);
  written(to, length);
}

static void do_map(void) {
  if (size == 0) return;
  const size_t offset = draw(size), length = some_length(size - offset);
  const int writes = (int)draw(2);
  note("%s map of %zu at %zu", writes ? "write by" : "read by", length, offset);
  const int access = PROT_READ | (writes ? PROT_WRITE : 0);
  char* const mapped = mmap(NULL, size, access, MAP_SHARED, fd, 0);
  need(mapped != MAP_FAILED, "mmap");
  compare(mapped + offset, offset, length);
  if (writes) {
    fill(length);
    memcpy(mapped + offset, bytes, length);
    written(offset, length);
    if (draw(2)) need(msync(mapped, size, MS_SYNC) == 0, "msync");
  }
  /* What is behind the end of the file in its last page is nobody's. */
  for (size_t i = size; i % 4096; ++i) need(mapped[i] == 0 || writes, "bytes behind the end");
  need(munmap(mapped, size) == 0, "munmap");
}

static void do_reopen(void) {
  note("reopen");
  need(close(fd) == 0, "close");
  fd = open(path, O_RDWR);
  need(fd >= 0, "open");
}

static void do_ask(void) {
  struct stat about;
  note("ask for the size, which is %zu", size);
  need((draw(2) ? fstat(fd, &about) : stat(path, &about)) == 0, "stat");
  if ((size_t)about.st_size != size) wrong("another size", (long)about.st_size);
  if (draw(3) == 0) need((draw(2) ? fsync(fd) : fdatasync(fd)) == 0, "fsync");
}

int main(int count, char** words) {
  if (count < 4) return 2;
  path = words[1];
  seed = strtoul(words[2], NULL, 10);
  const unsigned long operations = strtoul(words[3], NULL, 10);
  const int maps = count < 5;
  state = seed * 2654435761u + 88172645463325252u;
  fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0644);
  need(fd >= 0, "open");
  for (step = 0; step < operations; ++step) {
    switch (draw(32)) {
      case 0:
        do_truncate();
        break;
      case 1:
        do_allocate();
        break;
      case 2:
        do_append();
        break;
      case 3:
        do_copy();
        break;
      case 4:
        if (draw(4) == 0) do_reopen();
        break;
      case 5:
      case 6:
        do_ask();
        break;
      case 7:
      case 8:
      case 9:
        if (maps) do_map();
        break;
      case 10:
      case 11:
      case 12:
      case 13:
      case 14:
      case 15:
      case 16:
      case 17:
      case 18:
      case 19:
        do_read();
        break;
      default:
        do_write();
    }
  }
  need(close(fd) == 0, "close");
  fd = open(path, O_RDONLY);
  memset(bytes, 1, sizeof bytes);
  note("read all at the end");
  need(pread(fd, bytes, kMost, 0) == (ssize_t)size, "read at the end");
  compare(bytes, 0, size);
  return 0;
}
