#include "mpiio/direct.h"

#include <errno.h>
#include <gtest/gtest.h>
#include <string.h>

#include "support/checking_executor.h"
#include "support/random_placement.h"

namespace haichi::mpiio {
namespace {

/// A file in memory; offsets from `fail_from` on fail.
class MemoryFile : public Os {
 public:
  std::vector<std::byte> bytes;
  int64_t fail_from = INT64_MAX;
  int64_t pread(int, void* data, size_t size, int64_t offset) override {
    if (offset >= fail_from) return -EIO;
    if (offset >= int64_t(bytes.size())) return 0;
    const size_t n = std::min(size, bytes.size() - size_t(offset));
    memcpy(data, bytes.data() + offset, n);
    return int64_t(n);
  }
  int64_t pwrite(int, const void* data, size_t size, int64_t offset) override {
    if (offset >= fail_from) return -ENOSPC;
    if (bytes.size() < size_t(offset) + size) bytes.resize(size_t(offset) + size);
    memcpy(bytes.data() + offset, data, size);
    return int64_t(size);
  }
};

/// One rank's access of a strided view from strided memory.
struct Case {
  View view;
  Access access;
  PatternPtr memory_pattern;
  std::vector<std::byte> memory;
  std::vector<std::byte> bounce;
  MemoryFile file;

  explicit Case(uint64_t seed) {
    test::Random random(seed);
    const int64_t block = random.between(1, 30), gap = random.below(20);
    view = {random.below(50), Pattern::block(block), block + gap};
    access = Access(view, random.below(100), random.below(300));
    const int64_t bytes = access.end() - access.begin();
    const int64_t piece = random.between(1, 40);
    memory_pattern =
        Pattern::loop(Pattern::block(piece), bytes / piece + 1, piece + random.below(5));
    memory.resize(size_t(memory_pattern->end()) + 1);
    bounce.resize(size_t(random.between(1, 16)));
  }

  Status run(Direction direction) {
    DirectSchedule schedule(direction, access.end() - access.begin());
    DirectBuffers buffers({.own = &access,
                           .memory = memory.data(),
                           .memory_pattern = memory_pattern,
                           .file = {&file, 3, true},
                           .bounce = bounce});
    if (auto ran = test::run_checked({&schedule}, {&buffers}); !ran) return ran;
    return buffers.status();
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

TEST(Direct, WritesEachByteToItsPlaceAndNothingElse) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Case c(seed);
    for (size_t i = 0; i < c.memory.size(); ++i) c.memory[i] = std::byte(i % 250 + 1);
    ASSERT_TRUE(c.run(Direction::write));
    std::vector<std::byte> expected;
    for (const auto& [offset, at] : c.pairs()) {
      if (int64_t(expected.size()) <= offset) expected.resize(size_t(offset) + 1);
      expected[size_t(offset)] = c.memory[size_t(at)];
    }
    ASSERT_EQ(c.file.bytes, expected) << seed;
  }
}

TEST(Direct, ReadsEachByteAndTouchesNoOther) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Case c(seed);
    for (int64_t i = 0; i < 1000; ++i) c.file.bytes.push_back(std::byte(i % 250 + 1));
    c.access.clip(700);
    auto expected = c.memory;
    for (const auto& [offset, at] : c.pairs()) expected[size_t(at)] = c.file.bytes[size_t(offset)];
    ASSERT_TRUE(c.run(Direction::read));
    ASSERT_EQ(c.memory, expected) << seed;
  }
}

TEST(Direct, AFailureIsReportedAndWhatFitsIsKept) {
  Case c(7);
  c.view = {0, Pattern::block(10), 20};
  c.access = Access(c.view, 0, 100);
  c.memory_pattern = Pattern::block(100);
  c.memory.assign(100, std::byte{5});
  c.file.fail_from = 60;
  const Status done = c.run(Direction::write);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ENOSPC);
  EXPECT_EQ(c.file.bytes.size(), 50u);
  EXPECT_EQ(c.run(Direction::read).error().code, EIO);
}

}  // namespace
}  // namespace haichi::mpiio
