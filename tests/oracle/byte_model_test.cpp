// The byte model of files and buffers, on cases worked out by hand.
#include "oracle/byte_model.h"

#include <gmock/gmock.h>

namespace oracle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

MATCHER_P2(IsPiece, at, length, "") { return arg.at == at && arg.length == length; }

TEST(MemoryMap, KeepsTheOrderOfTheStream) {
  const auto type = hindexed({1, 1}, {8, -4}, named(Named::integer));
  const MemoryMap map(type->map, 2);
  EXPECT_THAT(map.pieces(),
              ElementsAre(IsPiece(8, 4), IsPiece(-4, 4), IsPiece(24, 4), IsPiece(12, 4)));
  EXPECT_EQ(map.bytes(), 16);
  EXPECT_EQ(map.low(), -4);
  EXPECT_EQ(map.high(), 28);
  EXPECT_FALSE(map.overlaps());
}

TEST(MemoryMap, SeesBytesThatAppearTwice) {
  EXPECT_TRUE(MemoryMap(vector(2, 2, 1, named(Named::integer))->map, 1).overlaps());
  const auto column = resized(0, 4, vector(2, 1, 2, named(Named::integer)));
  EXPECT_FALSE(MemoryMap(column->map, 2).overlaps());
  EXPECT_TRUE(MemoryMap(column->map, 3).overlaps());
}

// MPI 4.1, Figure 14.2: etypes of a tiled filetype with holes, after a displacement.
TEST(ViewMap, TilesAFileWithHoles) {
  const auto etype = named(Named::integer);
  const ViewMap view(100, etype, resized(0, 24, hindexed({1, 2}, {4, 12}, etype)));
  EXPECT_THAT(view.pieces(0, 12), ElementsAre(IsPiece(104, 4), IsPiece(112, 8)));
  EXPECT_THAT(view.pieces(8, 12), ElementsAre(IsPiece(116, 4), IsPiece(128, 4), IsPiece(136, 4)));
  EXPECT_THAT(view.pieces(26, 1), ElementsAre(IsPiece(154, 1)));
}

TEST(ViewMap, CountsTheBytesBeforeTheEndOfTheFile) {
  const auto etype = named(Named::integer);
  const ViewMap view(100, etype, resized(0, 24, hindexed({1, 2}, {4, 12}, etype)));
  const std::vector<std::pair<int64_t, int64_t>> ends = {
      {0, 0},    {104, 0},  {106, 2},  {108, 4},  {112, 4},   {115, 7},
      {120, 12}, {124, 12}, {128, 12}, {129, 13}, {1000, 448}};
  for (auto [size, bytes] : ends) EXPECT_EQ(view.bytes_below(size), bytes) << size;
}

TEST(ViewMap, ALowerBoundMovesNothing) {
  const auto etype = named(Named::byte);
  const ViewMap view(10, etype, resized(1, 4, etype));
  EXPECT_THAT(view.pieces(0, 2), ElementsAre(IsPiece(10, 1), IsPiece(14, 1)));
}

TEST(FileModel, KnowsWhatWasWrittenAndWhatWasNot) {
  FileModel file(0);
  file.prefill({1, 2, 3});
  file.write({{0, {{1, 1}}, {9}}, {1, {{4, 2}}, {7, 8}}});
  EXPECT_EQ(file.size(), 6);
  EXPECT_EQ(file.check(6, {1, 9, 3, 0, 7, 8}, false), std::nullopt);
  EXPECT_THAT(file.check(6, {1, 9, 4, 0, 7, 8}, false).value(), HasSubstr("by nobody"));
  EXPECT_THAT(file.check(6, {1, 2, 3, 0, 7, 8}, false).value(), HasSubstr("written by rank 0"));
  EXPECT_THAT(file.check(6, {1, 9, 3, 5, 7, 8}, false).value(), HasSubstr("a hole"));
  EXPECT_THAT(file.check(5, {1, 9, 3, 0, 7}, false).value(), HasSubstr("5 bytes"));
}

TEST(FileModel, TakesEitherValueWhereRanksOverlapAndKeepsToIt) {
  FileModel file(0);
  file.write({{0, {{0, 2}}, {1, 2}}, {1, {{1, 2}}, {5, 6}}});
  FileModel other = file;
  EXPECT_EQ(file.check(3, {1, 2, 6}, false), std::nullopt);
  EXPECT_NE(file.check(3, {1, 5, 6}, false), std::nullopt) << "it was 2 before";
  EXPECT_EQ(other.check(3, {1, 5, 6}, false), std::nullopt);
  FileModel third = other;
  EXPECT_NE(third.check(3, {1, 0, 6}, false), std::nullopt);
}

TEST(FileModel, LetsAStockLibraryFillHoles) {
  FileModel file(0);
  file.write({{0, {{2, 1}}, {4}}});
  EXPECT_NE(file.check(3, {0xff, 0x1, 4}, false), std::nullopt);
  EXPECT_EQ(file.check(3, {0xff, 0x1, 4}, true), std::nullopt);
}

TEST(FileModel, CountsFromItsBase) {
  FileModel file(INT64_C(5'000'000'000));
  EXPECT_EQ(file.size(), 0);
  file.write({{0, {{INT64_C(5'000'000'001), 1}}, {3}}});
  EXPECT_EQ(file.size(), INT64_C(5'000'000'002));
  EXPECT_EQ(file.check(INT64_C(5'000'000'002), {0, 3}, false), std::nullopt);
}

}  // namespace
}  // namespace oracle
