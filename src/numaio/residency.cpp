#include "numaio/residency.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "numaio/page_query.h"

// Of Linux 6.5; as all calls since 5.1 it has one number on all machines.
#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

namespace haichi::numaio {
namespace {

constexpr int64_t kBytesPerLook = 1 << 20;
constexpr int64_t kReads = 8;                // that do not wait
constexpr int64_t kLeastInMemory = 1 << 20;  // between parts on storage: a piece (engine.cpp)

// As in linux/mman.h.
struct Range {
  uint64_t offset, bytes;
};
struct Cached {
  uint64_t pages, dirty, writeback, evicted, recently_evicted;
};

LookUp by_statistics(int fd) {
  return [fd](std::span<const int64_t> pages, std::span<int> nodes) -> Status {
    for (size_t i = 0; i < pages.size(); ++i) {
      Range range{uint64_t(pages[i] * page_size()), uint64_t(page_size())};
      Cached cached = {};
      if (syscall(SYS_cachestat, fd, &range, &cached, 0) != 0)
        return fail(errno, "what is cached is not told (cachestat): {}", strerror(errno));
      nodes[i] = cached.pages > 0 ? 0 : int(kUntouched);
    }
    return {};
  };
}

// Whether a byte can be read without waiting; yes if the kernel does not know such reads. By its
// number, as the C library's function is hooked in preloaded programs.
bool is_there(int fd, int64_t offset) {
  char byte;
  iovec into{&byte, 1};
  const long got = syscall(SYS_preadv2, fd, &into, 1L, long(offset), 0L, long(RWF_NOWAIT));
  return got >= 0 || errno != EAGAIN;
}

// All from the last place on at which something was there, if there is one where nothing is: what
// lies beyond is not asked for, as each such question has the kernel read something.
std::vector<Piece> by_reading(int fd, int64_t offset, int64_t bytes) {
  const int64_t step = std::max(bytes / kReads / page_size(), int64_t{1}) * page_size();
  for (int64_t at = 0, known = 0; at < bytes; at += step) {
    if (!is_there(fd, offset + at)) return {{known, bytes - known}};
    known = at;
  }
  return {};
}

}  // namespace

std::vector<Piece> parts_on_storage(const PageMap& map, int64_t lead, int64_t bytes,
                                    int64_t page_bytes) {
  std::vector<Piece> parts;
  for (const Segment& each : map.segments) {
    if (each.node != kUntouched && each.node != kInterleaved) continue;
    const int64_t begin = std::max<int64_t>(each.first * page_bytes - lead, 0);
    const int64_t end = std::min((each.first + each.pages) * page_bytes - lead, bytes);
    if (begin >= end) continue;
    if (!parts.empty() && begin - (parts.back().begin + parts.back().bytes) < kLeastInMemory)
      parts.back().bytes = end - parts.back().begin;
    else
      parts.push_back({begin, end - begin});
  }
  return parts;
}

std::vector<Piece> on_storage(int fd, int64_t offset, int64_t bytes) {
  const int64_t lead = offset % page_size();
  const int64_t pages = (lead + bytes + page_size() - 1) / page_size();
  const auto map = map_pages(pages, counted_from(offset / page_size(), by_statistics(fd)),
                             std::clamp<int64_t>(bytes / kBytesPerLook, 2, kSamples));
  return map ? parts_on_storage(*map, lead, bytes, page_size()) : by_reading(fd, offset, bytes);
}

}  // namespace haichi::numaio
