#include "machine/size_curve.h"

#include <gtest/gtest.h>

namespace haichi::machine {
namespace {

TEST(SizeCurve, IsTheLineFromSizeToSize) {
  const SizeCurve curve{{0, 100, 200, 1000}, {1, 2, 6, 14}, {1, 1, 5, 13}, {2, 3, 7, 15}};
  EXPECT_DOUBLE_EQ(curve.at(50), 1.5);
  EXPECT_DOUBLE_EQ(curve.at(100), 2);
  EXPECT_DOUBLE_EQ(curve.at(150, Bound::low), 3);
  EXPECT_DOUBLE_EQ(curve.at(150, Bound::high), 5);
  // Beyond the last as from the largest size of at most half of it.
  EXPECT_DOUBLE_EQ(curve.at(1800), 14 + 800 * 8.0 / 800);
}

TEST(SizeCurve, OfOneSizeAndWithoutAnInterval) {
  const SizeCurve curve{{10}, {3}, {}, {}};
  EXPECT_DOUBLE_EQ(curve.at(0), 3);
  EXPECT_DOUBLE_EQ(curve.at(20, Bound::low), 6);
  EXPECT_FALSE(curve.has_interval());
  EXPECT_TRUE(SizeCurve{}.empty());
}

TEST(SizeCurve, NeverShrinksBeyondItsEnd) {
  const SizeCurve curve{{1, 100}, {5, 4}, {}, {}};
  EXPECT_DOUBLE_EQ(curve.at(1000), 4);
}

}  // namespace
}  // namespace haichi::machine
