#include "mpiio/regions/access.h"

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

TEST(Access, TellsAnotherRankThePartThatItNeeds) {
  // 400 rows of different lengths, each of many regular pieces: too many to be sent whole.
  std::vector<Pattern::Placed> rows;
  for (int64_t i = 0; i < 400; ++i)
    rows.push_back({i * 100'000, Pattern::loop(Pattern::block(8), 1000 + i, 16)});
  const View view{5000, Pattern::sequence(std::move(rows)), 400 * 100'000};
  const Access whole(view, 0, view.tile->size());
  const int64_t from = whole.position_of(10'000'003), to = whole.position_of(20'000'000);
  const auto encoded = whole.encode(from, to);
  EXPECT_LT(encoded.size(), 100u * 100) << "pieces are spelled out";
  const auto part = Access::decode(encoded);
  ASSERT_TRUE(part);
  EXPECT_EQ(part->begin(), from);
  EXPECT_EQ(part->end(), to);
  std::vector<plan::Extent> wanted, found;
  whole.for_each_block(from, to, [&](int64_t at, int64_t n) { wanted.push_back({at, at + n}); });
  part->for_each_block(from, to, [&](int64_t at, int64_t n) { found.push_back({at, at + n}); });
  EXPECT_EQ(found, wanted);
}

}  // namespace
}  // namespace haichi::mpiio
