#include "numaio/residency.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "numaio/page_query.h"

// Of Linux 6.5; as all calls since 5.1 it has one number on all machines.
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

namespace haichi::numaio {
namespace {

constexpr int64_t kBytesPerLook = 1 << 20, kMostLooks = 64;
constexpr int64_t kReads = 8;  // that do not wait

CacheOs real;

// As in linux/mman.h.
struct Range {
  uint64_t offset, bytes;
};
struct Cached {
  uint64_t pages, dirty, writeback, evicted, recently_evicted;
};

// Whether the page is in memory, if the kernel says so.
std::optional<bool> by_statistics(int fd, int64_t byte) {
  Range range{uint64_t(byte / page_size() * page_size()), uint64_t(page_size())};
  Cached cached = {};
  if (syscall(SYS_cachestat, fd, &range, &cached, 0) != 0) return {};
  return cached.pages > 0;
}

// Whether the byte can be read without waiting; yes if the kernel does not know such reads.
bool by_reading(int fd, int64_t byte) {
  char read;
  return real_cache_os().pread_cached(fd, &read, 1, byte) != -EAGAIN;
}

}  // namespace

int64_t CacheOs::pread_cached(int fd, void* data, size_t size, int64_t offset) {
  const iovec into{data, size};
  // By its number: the C library's function is hooked in preloaded programs.
  const long got = syscall(SYS_preadv2, fd, &into, 1L, long(offset), 0L, long(RWF_NOWAIT));
  return got < 0 ? -errno : got;
}

CacheOs& real_cache_os() { return real; }

int64_t bytes_before_storage(int fd, int64_t offset, int64_t bytes) {
  const bool told = by_statistics(fd, offset).has_value();
  const int64_t looks = told ? std::clamp<int64_t>(bytes / kBytesPerLook, 2, kMostLooks) : kReads;
  const int64_t step = std::max(bytes / looks / page_size(), int64_t{1}) * page_size();
  for (int64_t at = 0, known = 0; at < bytes; at += step) {
    const bool there =
        told ? by_statistics(fd, offset + at).value_or(true) : by_reading(fd, offset + at);
    if (!there) return known;
    known = at;
  }
  return bytes;
}

}  // namespace haichi::numaio
