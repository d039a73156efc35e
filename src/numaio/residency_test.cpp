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

TEST(Residency, WhatTheKernelDoesNotTellCountsAsMemory) {
  EXPECT_EQ(bytes_before_storage(-1, 0, 64 * kMiB), 64 * kMiB);
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
  EXPECT_EQ(bytes_before_storage(file_, 0, kBytes), 0);
  fetch(8 * kMiB, 16 * kMiB);
  EXPECT_EQ(bytes_before_storage(file_, 4 * kMiB + 10, kBytes - 4 * kMiB - 10), 0);
  EXPECT_EQ(bytes_before_storage(file_, 8 * kMiB, 16 * kMiB), 16 * kMiB);
  const int64_t first = bytes_before_storage(file_, 8 * kMiB + 10, 20 * kMiB);
  EXPECT_NEAR(double(first), 15 * kMiB, 2 * kMiB);  // folios may be of more than a page
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
  const int64_t half = bytes_before_storage(theirs, 0, kBytes);
  const int64_t cached = bytes_before_storage(theirs, 0, 16 * kMiB);
  ASSERT_EQ(seteuid(0), 0);
  drop();
  ASSERT_EQ(seteuid(kNobody), 0);
  const int64_t none = bytes_before_storage(theirs, 0, kBytes);
  ASSERT_EQ(seteuid(0), 0);
  close(theirs);
  EXPECT_EQ(none, 0);
  EXPECT_EQ(half, 12 * kMiB);
  EXPECT_EQ(cached, 16 * kMiB);
}

}  // namespace
}  // namespace haichi::numaio
