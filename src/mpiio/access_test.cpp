#include "mpiio/access.h"

#include <gtest/gtest.h>

namespace haichi::mpiio {
namespace {

PatternPtr two_blocks(int64_t first, int64_t second) {
  return Pattern::sequence({{first, Pattern::block(4)}, {second, Pattern::block(4)}});
}

TEST(View, IsSortedWhereItsTilesAre) {
  const View view{100, two_blocks(0, 8), 12};
  EXPECT_TRUE(view.sorted(0, 1000));
  const View descending{100, two_blocks(8, 0), 12};
  EXPECT_FALSE(descending.sorted(0, 8));
  EXPECT_TRUE(descending.sorted(3, 3)) << "nothing is accessed";
}

TEST(View, OfTilesThatRunIntoEachOtherIsSortedWithinOne) {
  const View view{100, two_blocks(0, 8), 6};
  EXPECT_TRUE(view.sorted(0, 8));
  EXPECT_TRUE(view.sorted(8, 16));
  EXPECT_FALSE(view.sorted(0, 9));
  EXPECT_FALSE(view.sorted(7, 9));
}

}  // namespace
}  // namespace haichi::mpiio
