// One rank's access of a strided view from strided memory, on a file in memory.
#pragma once

#include <errno.h>
#include <string.h>

#include <utility>
#include <vector>

#include "base/os.h"
#include "mpiio/regions/access.h"
#include "support/random_placement.h"

namespace haichi::test {

/// A file in memory; offsets from `fail_from` on fail.
class MemoryFile : public Os {
 public:
  std::vector<std::byte> bytes;
  int64_t fail_from = INT64_MAX;
  int64_t bytes_read = 0;
  int64_t writes = 0;
  int64_t pread(int, void* data, size_t size, int64_t offset) override {
    if (offset >= fail_from) return -EIO;
    if (offset >= int64_t(bytes.size())) return 0;
    const size_t n = std::min(size, bytes.size() - size_t(offset));
    memcpy(data, bytes.data() + offset, n);
    bytes_read += int64_t(n);
    return int64_t(n);
  }
  int64_t pwrite(int, const void* data, size_t size, int64_t offset) override {
    if (offset >= fail_from) return -ENOSPC;
    ++writes;
    if (bytes.size() < size_t(offset) + size) bytes.resize(size_t(offset) + size);
    memcpy(bytes.data() + offset, data, size);
    return int64_t(size);
  }
  int lock(int, short, int64_t, int64_t) override { return 0; }
  int locked_by_others(int, int64_t, int64_t) override { return 0; }
};

/// One rank's access of a strided view from strided memory.
struct StridedAccess {
  mpiio::View view;
  mpiio::Access access;
  mpiio::PatternPtr memory_pattern;
  std::vector<std::byte> memory;
  std::vector<std::byte> bounce;
  MemoryFile file;

  explicit StridedAccess(uint64_t seed) {
    Random random(seed);
    const int64_t block = random.between(1, 30), gap = random.below(20);
    view = {random.below(50), mpiio::Pattern::block(block), block + gap};
    access = mpiio::Access(view, random.below(100), random.below(300));
    const int64_t bytes = access.end() - access.begin();
    const int64_t piece = random.between(1, 40);
    memory_pattern = mpiio::Pattern::loop(mpiio::Pattern::block(piece), bytes / piece + 1,
                                          piece + random.below(5));
    memory.resize(size_t(memory_pattern->end()) + 1);
    bounce.resize(size_t(random.between(1, 16)));
  }

  /// File offset and memory offset of each byte.
  std::vector<std::pair<int64_t, int64_t>> pairs() const {
    std::vector<int64_t> in_memory;
    memory_pattern->for_each_block(0, access.end() - access.begin(), 0, [&](int64_t at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) in_memory.push_back(at + i);
    });
    std::vector<std::pair<int64_t, int64_t>> result;
    access.for_each_block(access.begin(), access.end(), [&](int64_t at, int64_t n) {
      for (int64_t i = 0; i < n; ++i) result.emplace_back(at + i, in_memory[result.size()]);
    });
    return result;
  }
};

}  // namespace haichi::test
