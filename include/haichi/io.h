/* haichi/io.h: large reads, writes and copies, split over threads by the NUMA nodes of their pages.
 *
 * The calls have the arguments, the results and the errors of the system calls that they are named
 * after, and give what those would have given: where a split is not worth it, or not possible, they
 * are those. What was done, and why, haichi_io_last() tells. Sizes are bytes.
 *
 * Link with -lhaichi-io. Thread-safe; of threads that call at the same time one is helped by
 * others, and the rest get the plain calls. A call can't be interrupted: signals wait until it is
 * over. Works over fork(2). docs/guide/numaio.md says more.
 */
#ifndef HAICHI_IO_H
#define HAICHI_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As pread(2) of a regular file, but not limited to 2 GiB. -1 and errno, or the bytes read. */
ssize_t haichi_io_pread(int fd, void* buffer, size_t size, off_t offset);

/* As read(2): from the file position, which it moves. */
ssize_t haichi_io_read(int fd, void* buffer, size_t size);

/* As pwrite(2) that writes everything. One file is written by one thread: Linux holds a lock on it
 * during a whole write, so that several threads are slower than one. To write large data in
 * parallel, divide it among files: haichi_io_pwrite_parts(). */
ssize_t haichi_io_pwrite(int fd, const void* buffer, size_t size, off_t offset);

/* A part of a write, for one of several files. */
struct haichi_io_part {
  int fd;
  const void* buffer;
  size_t size;
  off_t offset;
};

/* Writes all parts, those of different files at the same time, each by a thread of the node that
 * its buffer lies on; parts of one file in the order given. Returns 0, or -1 and errno of the first
 * part in the list that failed; what the others have written stays. */
int haichi_io_pwrite_parts(const struct haichi_io_part* parts, size_t count);

/* As pread(2) by a process that is number `turn`, from 0, of `turns` on this machine that all read
 * these bytes of a file that is not cached: each begins with another part, and finds in the page
 * cache what the others have read meanwhile. */
ssize_t haichi_io_pread_turn(int fd, void* buffer, size_t size, off_t offset, int turn, int turns);

/* As memcpy(), by the fastest way past the caches: for memory that nobody reads soon. */
void haichi_io_copy(void* to, const void* from, size_t size);

struct haichi_io_options {
  int threads;       /* at most, the caller among them; 0: as many as the plan wants */
  size_t cold_bytes; /* smallest call that is split while the threads are asleep */
  size_t hot_bytes;  /* and right after another one */
  int always; /* 1: also where earlier calls of the kind and size were no faster when split */
};

/* For all threads of the process, from the next call on. Returns 0, or -1 and EINVAL. */
void haichi_io_get_options(struct haichi_io_options* options);
int haichi_io_set_options(const struct haichi_io_options* options);

/* How the calling thread's last call of the above was carried out. */
struct haichi_io_how {
  int threads;          /* that took part; 1: the plain call */
  int nodes;            /* NUMA nodes whose threads took part */
  uint64_t local_bytes; /* moved by a thread from and to its own node's memory, as far as known */
  uint64_t bytes;       /* that were to be moved */
  const char* why;      /* in a few words; never null */
};
void haichi_io_last(struct haichi_io_how* how);

#ifdef __cplusplus
}
#endif

#endif
