#include "mpiio/storage/sieve.h"

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
                          .bounce = room});
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

TEST(Sieve, WritesEachByteToItsPlaceAndKeepsTheOthers) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    StridedAccess c(seed);
    for (int64_t i = 0; i < 10000; ++i) c.file.bytes.push_back(std::byte(i % 251 + 1));
    for (size_t i = 0; i < c.memory.size(); ++i) c.memory[i] = std::byte(i % 250 + 1);
    auto expected = c.file.bytes;
    for (const auto& [offset, at] : c.pairs()) expected[size_t(offset)] = c.memory[size_t(at)];
    std::vector<std::byte> room(1 + seed % 97);
    ASSERT_TRUE(write_by_sieving({.own = &c.access,
                                  .memory = c.memory.data(),
                                  .memory_pattern = c.memory_pattern,
                                  .file = {&c.file, 3, true, seed % 2 ? 7 : -1, true},
                                  .bounce = room}));
    ASSERT_EQ(c.file.bytes, expected) << seed;
  }
}

TEST(Sieve, FillsHolesWhereThatIsFasterThanACallForEachPiece) {
  const auto access = [](int64_t block, int64_t stride, int64_t count) {
    return Access(View{0, Pattern::block(block), stride}, 0, block * count);
  };
  EXPECT_TRUE(worth_filling(access(64, 128, 1000)));
  EXPECT_TRUE(worth_filling(access(3744, 4000, 1000)));
  EXPECT_FALSE(worth_filling(access(3744, 9000, 1000)));
  EXPECT_FALSE(worth_filling(access(64, 64, 1000))) << "no holes";
  EXPECT_FALSE(worth_filling(Access()));
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

int64_t sieved(int64_t block, int64_t stride, int64_t count) {
  return sieved_bytes(Access(View{7, Pattern::block(block), stride}, 0, block * count));
}

TEST(Sieve, EstimatesWhatItReads) {
  EXPECT_EQ(sieved_bytes(Access()), 0);
  EXPECT_EQ(sieved(100, 100, 1), 100);
  EXPECT_NEAR(double(sieved(64, 256, 10'000)), 64 * 4 * 10'000, 0.02 * 64 * 4 * 10'000);
  // Holes that are skipped are not read.
  EXPECT_EQ(sieved(1000, 1 << 20, 50), 1000 * 50);
}

// Rows of a block: dense within a plane, with far jumps from plane to plane.
TEST(Sieve, EstimatesByPlaces) {
  const PatternPtr plane = Pattern::loop(Pattern::block(1280), 64, 2560);
  const Access access(View{0, plane, 10 << 20}, 0, 1280 * 64 * 100);
  EXPECT_NEAR(double(sieved_bytes(access)), 2.0 * 1280 * 64 * 100, 0.05 * 2560 * 64 * 100);
}

}  // namespace
}  // namespace haichi::mpiio
