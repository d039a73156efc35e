#include "record/histogram.h"

#include <gtest/gtest.h>

#include <cmath>

namespace haichi::record {
namespace {

TEST(BucketOf, CountsFourToAFactorOfTwo) {
  EXPECT_EQ(bucket_of(-5), 0);
  EXPECT_EQ(bucket_of(0), 0);
  EXPECT_EQ(bucket_of(1), 0);
  EXPECT_EQ(bucket_of(2), 4);
  EXPECT_EQ(bucket_of(1024), 40);
  EXPECT_EQ(bucket_of(1023), 39);
}

TEST(BucketOf, IsTheLogarithmsFloor) {
  for (int64_t ns = 2; ns < 200'000; ++ns)
    ASSERT_EQ(bucket_of(ns), int(std::floor(4 * std::log2(double(ns)) + 1e-12))) << ns;
}

TEST(BucketOf, HasALastOne) {
  EXPECT_EQ(bucket_of(int64_t{1} << 40), kBuckets - 1);
  EXPECT_EQ(bucket_of(INT64_MAX), kBuckets - 1);
}

}  // namespace
}  // namespace haichi::record
