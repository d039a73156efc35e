/* late_aio: a preload that holds back asynchronous writes, as a busy disk would, and lets them
 * reach the file at the worst moment: just after this process has read from a file, so in the
 * middle of a read-modify-write, or else when somebody asks for them. At the end of the process it
 * says how many reached the file in a read. Build: cc -O2 -fPIC -shared -o liblate_aio.so
 * late_aio.c -ldl */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { kMost = 64 };

static struct {
  const struct aiocb* block;
  int done;
  ssize_t result;
} held[kMost];
static int count, in_reads;

static int hold(const struct aiocb* block) {
  if (count == kMost) return errno = EAGAIN, -1;
  held[count].block = block;
  held[count++].done = 0;
  return 0;
}

static int index_of(const struct aiocb* block) {
  for (int i = count - 1; i >= 0; --i)
    if (held[i].block == block) return i;
  return -1;
}

static int let_go(int i) {
  if (held[i].done) return 0;
  const struct aiocb* block = held[i].block;
  held[i].result =
      pwrite(block->aio_fildes, (const void*)block->aio_buf, block->aio_nbytes, block->aio_offset);
  return held[i].done = 1;
}

static ssize_t with_late_writes(ssize_t result) {
  for (int i = 0; i < count; ++i) in_reads += let_go(i);
  return result;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t pread(int fd, void* data, size_t size, off_t at) {
  return with_late_writes(NEXT(pread)(fd, data, size, at));
}
ssize_t pread64(int fd, void* data, size_t size, off64_t at) {
  return with_late_writes(NEXT(pread64)(fd, data, size, at));
}

/* On this machine struct aiocb64 is struct aiocb. */
int aio_write(struct aiocb* block) { return hold(block); }
int aio_write64(struct aiocb64* block) { return hold((struct aiocb*)block); }

int aio_error(const struct aiocb* block) {
  const int i = index_of(block);
  if (i < 0) return NEXT(aio_error)(block);
  let_go(i);
  return held[i].result < 0 ? EIO : 0;
}
int aio_error64(const struct aiocb64* block) { return aio_error((const struct aiocb*)block); }

ssize_t aio_return(struct aiocb* block) {
  const int i = index_of(block);
  if (i < 0) return NEXT(aio_return)(block);
  held[i].block = NULL;
  return held[i].result;
}
ssize_t aio_return64(struct aiocb64* block) { return aio_return((struct aiocb*)block); }

int aio_suspend(const struct aiocb* const list[], int n, const struct timespec* limit) {
  int known = 0;
  for (int k = 0; k < n; ++k) {
    const int i = list[k] ? index_of(list[k]) : -1;
    if (i >= 0) ++known, let_go(i);
  }
  return known ? 0 : NEXT(aio_suspend)(list, n, limit);
}
int aio_suspend64(const struct aiocb64* const list[], int n, const struct timespec* limit) {
  return aio_suspend((const struct aiocb* const*)list, n, limit);
}

__attribute__((destructor)) static void say(void) {
  if (count) fprintf(stderr, "late_aio: %d writes held, %d let go in a read\n", count, in_reads);
}
