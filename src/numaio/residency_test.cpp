#include "numaio/residency.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "numaio/page_query.h"

namespace haichi::numaio {
namespace {

constexpr int64_t kPage = 4096, kMiB = 1 << 20;

std::vector<std::pair<int64_t, int64_t>> pairs(const std::vector<Piece>& pieces) {
  std::vector<std::pair<int64_t, int64_t>> made;
  for (const Piece& each : pieces) made.emplace_back(each.begin, each.bytes);
  return made;
}

using Pairs = std::vector<std::pair<int64_t, int64_t>>;

TEST(Residency, PartsAreInBytesOfTheTransfer) {
  const PageMap map{{{0, 1000, kUntouched}, {1000, 1000, 0}, {2000, 1000, kUntouched}}, 0};
  EXPECT_EQ(pairs(parts_on_storage(map, 100, 3000 * kPage - 200, kPage)),
            (Pairs{{0, 1000 * kPage - 100}, {2000 * kPage - 100, 1000 * kPage - 100}}));
}

TEST(Residency, WhatIsTooShortForAPieceIsReadOver) {
  const PageMap map{{{0, 1000, kUntouched}, {1000, 200, 0}, {1200, 1000, kUntouched}}, 0};
  EXPECT_EQ(pairs(parts_on_storage(map, 0, 2200 * kPage, kPage)), (Pairs{{0, 2200 * kPage}}));
}

TEST(Residency, WhatTheKernelDoesNotTellCountsAsMemory) {
  const PageMap map{{{0, 500, kUnknown}, {500, 500, 0}}, 0};
  EXPECT_TRUE(parts_on_storage(map, 0, 1000 * kPage, kPage).empty());
  const PageMap turns{{{0, 1000, kInterleaved}}, 0};
  EXPECT_EQ(pairs(parts_on_storage(turns, 0, 1000 * kPage, kPage)), (Pairs{{0, 1000 * kPage}}));
  EXPECT_TRUE(on_storage(-1, 0, 64 * kMiB).empty());
}

// A file on a disk whose pages can be dropped from memory.
class OnDisk : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/var/tmp/haichi-residency-XXXXXX";
    file_ = mkstemp(name);
    ASSERT_GE(file_, 0);
    unlink(name);
    const std::string data(kBytes, 'x');
    ASSERT_EQ(write(file_, data.data(), data.size()), ssize_t(data.size()));
    ASSERT_EQ(fsync(file_), 0);
    drop();
    const auto pages = FilePages::open(file_, kBytes);
    ASSERT_TRUE(pages);
    if (*pages->cached() > 0) GTEST_SKIP() << "/var/tmp keeps its files in memory";
  }
  void TearDown() override {
    if (file_ >= 0) close(file_);
  }
  void drop() { ASSERT_EQ(posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED), 0); }
  // Reads so without reading ahead.
  void fetch(int64_t offset, int64_t bytes) {
    std::string data(size_t(bytes), ' ');
    ASSERT_EQ(posix_fadvise(file_, 0, 0, POSIX_FADV_RANDOM), 0);
    ASSERT_EQ(pread(file_, data.data(), data.size(), offset), bytes);
  }
  static constexpr int64_t kBytes = 32 * kMiB;
  int file_ = -1;
};

TEST_F(OnDisk, WhatIsCachedIsToldFromWhatIsNot) {
  EXPECT_EQ(pairs(on_storage(file_, 0, kBytes)), (Pairs{{0, kBytes}}));
  fetch(8 * kMiB, 16 * kMiB);
  const auto parts = on_storage(file_, 4 * kMiB + 10, kBytes - 4 * kMiB - 10);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].begin, 0);
  EXPECT_NEAR(double(parts[0].bytes), 4 * kMiB, 2 * kMiB);  // folios may be of more than a page
  EXPECT_NEAR(double(parts[1].bytes), 8 * kMiB, 2 * kMiB);
  EXPECT_EQ(parts[1].begin + parts[1].bytes, kBytes - 4 * kMiB - 10);
  EXPECT_TRUE(on_storage(file_, 8 * kMiB, 16 * kMiB).empty());
}

TEST_F(OnDisk, WhoMayNotAskForStatisticsIsToldByReads) {
  if (geteuid() != 0) GTEST_SKIP() << "not root: no file of somebody else's here";
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file_);
  const int theirs = open(path, O_RDONLY);
  ASSERT_GE(theirs, 0);
  ASSERT_EQ(fchmod(file_, 0444), 0);
  fetch(0, 16 * kMiB);
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(seteuid(kNobody), 0);
  const auto half = on_storage(theirs, 0, kBytes), cached = on_storage(theirs, 0, 16 * kMiB);
  ASSERT_EQ(seteuid(0), 0);
  drop();
  ASSERT_EQ(seteuid(kNobody), 0);
  const auto all = on_storage(theirs, 0, kBytes);
  ASSERT_EQ(seteuid(0), 0);
  close(theirs);
  EXPECT_EQ(pairs(all), (Pairs{{0, kBytes}}));
  EXPECT_EQ(pairs(half), (Pairs{{12 * kMiB, 20 * kMiB}}));
  EXPECT_TRUE(cached.empty());
}

}  // namespace
}  // namespace haichi::numaio
