#include "mpiio/sieve.h"

#include <errno.h>
#include <gtest/gtest.h>

#include "support/strided_access.h"

namespace haichi::mpiio {
namespace {

using test::StridedAccess;

Status read(StridedAccess& c, size_t window) {
  std::vector<std::byte> room(window);
  return read_by_sieving({.own = &c.access,
                          .memory = c.memory.data(),
                          .memory_pattern = c.memory_pattern,
                          .file = {&c.file, 3, true},
                          .window = room});
}

TEST(Sieve, ReadsEachByteAndTouchesNoOther) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    StridedAccess c(seed);
    for (int64_t i = 0; i < 10000; ++i) c.file.bytes.push_back(std::byte(i % 251 + 1));
    c.access.clip(700);
    auto expected = c.memory;
    for (const auto& [offset, at] : c.pairs()) expected[size_t(at)] = c.file.bytes[size_t(offset)];
    ASSERT_TRUE(read(c, 1 + seed % 97));
    ASSERT_EQ(c.memory, expected) << seed;
  }
}

/// Two pieces with a hole between them that is too large to be read.
struct FarApart : StridedAccess {
  static constexpr int64_t kStride = 1 << 20;
  FarApart() : StridedAccess(1) {
    view = {0, Pattern::block(4), kStride};
    access = Access(view, 0, 8);
    memory_pattern = Pattern::block(8);
    memory.assign(8, std::byte{9});
    file.bytes.assign(size_t(kStride) + 4, std::byte{3});
  }
};

TEST(Sieve, SkipsLargeHoles) {
  FarApart c;
  ASSERT_TRUE(read(c, 4 << 20));
  EXPECT_EQ(c.file.bytes_read, 8);
  EXPECT_EQ(c.memory, std::vector(8, std::byte{3}));
}

TEST(Sieve, BytesThatWentAwayAreZeros) {
  FarApart c;
  c.file.bytes.resize(2);
  ASSERT_TRUE(read(c, 64));
  const std::vector<std::byte> expected = {std::byte{3}, std::byte{3}, {}, {}, {}, {}, {}, {}};
  EXPECT_EQ(c.memory, expected);
}

TEST(Sieve, AFailureIsReportedAndTheRestIsRead) {
  FarApart c;
  c.file.fail_from = 100;
  const Status done = read(c, 64);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, EIO);
  EXPECT_EQ(c.memory.front(), std::byte{3});
}

TEST(Sieve, OnlyManySmallPiecesAreWorthIt) {
  EXPECT_TRUE(worth_sieving(4000, 100));
  EXPECT_FALSE(worth_sieving(100, 1));
  EXPECT_FALSE(worth_sieving(100 << 20, 100));
  EXPECT_FALSE(worth_sieving(0, 0));
}

}  // namespace
}  // namespace haichi::mpiio
