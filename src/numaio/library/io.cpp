// The C edge of include/haichi/io.h.
#include <errno.h>
#include <haichi/io.h>
#include <sys/types.h>
#include <unistd.h>

#include <vector>

#include "numaio/engine.h"
#include "numaio/file_io.h"
#include "numaio/library/c_edge.h"

using namespace haichi::numaio;

HAICHI_EXPORTED ssize_t haichi_io_pread(int fd, void* buffer, size_t size, off_t offset) {
  if (size > size_t(SSIZE_MAX) || offset < 0) return pread(fd, buffer, size, offset);
  return without_exception(
      [&] {
        return as_system_call(parallel_pread(real_cache_os(), fd, buffer, int64_t(size), offset));
      },
      [&] { return pread(fd, buffer, size, offset); });
}

HAICHI_EXPORTED ssize_t haichi_io_read(int fd, void* buffer, size_t size) {
  const off_t offset = lseek(fd, 0, SEEK_CUR);
  // A pipe or a terminal, or nothing that is open: the call itself says what is wrong.
  if (offset < 0) return read(fd, buffer, size);
  const ssize_t got = haichi_io_pread(fd, buffer, size, offset);
  if (got < 0 && errno == ESPIPE) return read(fd, buffer, size);
  if (got > 0) lseek(fd, offset + got, SEEK_SET);
  return got;
}

HAICHI_EXPORTED ssize_t haichi_io_pwrite(int fd, const void* buffer, size_t size, off_t offset) {
  if (size > size_t(SSIZE_MAX) || offset < 0) return pwrite(fd, buffer, size, offset);
  return as_system_call(plain_pwrite(haichi::real_os(), fd, buffer, int64_t(size), offset));
}

HAICHI_EXPORTED int haichi_io_pwrite_parts(const haichi_io_part* parts, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (parts[i].size > size_t(SSIZE_MAX) || parts[i].offset < 0) {
      errno = EINVAL;
      return -1;
    }
  const auto write = [&] {
    std::vector<Part> list;
    for (size_t i = 0; i < count; ++i)
      list.push_back({parts[i].fd, parts[i].buffer, int64_t(parts[i].size), parts[i].offset});
    return write_parts(haichi::real_os(), list);
  };
  return int(as_system_call(without_exception(write, [] { return -ENOMEM; })));
}

HAICHI_EXPORTED ssize_t haichi_io_pread_turn(int fd, void* buffer, size_t size, off_t offset,
                                             int turn, int turns) {
  if (turns < 1 || turn < 0 || turn >= turns || size > size_t(SSIZE_MAX) || offset < 0) {
    errno = EINVAL;
    return -1;
  }
  return as_system_call(
      pread_turn(haichi::real_os(), fd, buffer, int64_t(size), offset, turn, turns));
}

HAICHI_EXPORTED void haichi_io_copy(void* to, const void* from, size_t size) {
  without_exception([&] { parallel_copy(to, from, int64_t(size)); },
                    [&] { __builtin_memcpy(to, from, size); });
}

HAICHI_EXPORTED void haichi_io_get_options(haichi_io_options* out) {
  const Options now = options();
  *out = {now.threads, size_t(now.cold_bytes), size_t(now.hot_bytes), now.always ? 1 : 0};
}

HAICHI_EXPORTED int haichi_io_set_options(const haichi_io_options* given) {
  // Less than a page a thread is never worth it.
  constexpr size_t kLeast = 16384;
  if (given->threads < 0 || given->always < 0 || given->always > 1 || given->cold_bytes < kLeast ||
      given->hot_bytes < kLeast || given->cold_bytes > size_t(SSIZE_MAX) ||
      given->hot_bytes > size_t(SSIZE_MAX)) {
    errno = EINVAL;
    return -1;
  }
  set_options(
      {given->threads, int64_t(given->cold_bytes), int64_t(given->hot_bytes), given->always != 0});
  return 0;
}

HAICHI_EXPORTED void haichi_io_last(haichi_io_how* out) {
  const How& how = last();
  *out = {how.threads, how.nodes, uint64_t(how.local_bytes), uint64_t(how.bytes), how.why.data()};
}
