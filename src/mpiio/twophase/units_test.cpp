#include "mpiio/twophase/units.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_placement.h"
#include "support/wanted.h"

namespace haichi::mpiio {
namespace {

/// An array of `planes` x `rows` x `row` bytes in `z` x `y` x `x` blocks, from `origin` on.
Wanted blocks_of(int64_t planes, int64_t rows, int64_t row, int z, int y, int x,
                 int64_t origin = 0) {
  Wanted wanted;
  for (int i = 0; i < z; ++i)
    for (int j = 0; j < y; ++j)
      for (int k = 0; k < x; ++k) {
        const auto plane = Pattern::loop(Pattern::block(row / x), rows / y, row);
        const auto block = Pattern::loop(plane, planes / z, rows * row);
        const int64_t begin =
            origin + (i * (planes / z) * rows + j * (rows / y)) * row + k * (row / x);
        wanted.add(begin, block);
      }
  return wanted;
}

bool has(const std::vector<int64_t>& borders, int64_t at) {
  return std::binary_search(borders.begin(), borders.end(), at);
}

TEST(Units, NoneHasBytesOfTwoHalvesOrThirdsOfAPlane) {
  struct Case {
    int64_t planes, rows, row;
    int z, y, x;
  };
  for (const Case& c : {Case{128, 128, 128 * 40, 2, 2, 4}, Case{192, 192, 192 * 8, 4, 2, 2},
                        Case{96, 120, 8000, 2, 3, 2}, Case{96, 126, 8000, 4, 7, 1}}) {
    const Wanted wanted = blocks_of(c.planes, c.rows, c.row, c.z, c.y, c.x);
    const auto borders = borders_of_units(wanted.range, wanted.demands);
    for (int64_t part = 0; part <= c.planes * c.y; ++part)
      EXPECT_TRUE(has(borders, part * (c.rows / c.y) * c.row)) << c.rows << " rows, part " << part;
    EXPECT_LE(borders.size(), 2048u);
  }
}

TEST(Units, RanksThatShareRowsDoNotMakeSliversOfThem) {
  const Wanted wanted = blocks_of(128, 128, 128 * 40, 2, 2, 4);
  const auto borders = borders_of_units(wanted.range, wanted.demands);
  const int64_t unit = (wanted.range.size() >> 10) + 1;
  for (size_t i = 1; i < borders.size(); ++i) EXPECT_GE(borders[i] - borders[i - 1], unit / 2);
}

TEST(Units, AnArrayNeedNotLieAtTheBeginOfTheFile) {
  const int64_t origin = (int64_t{1} << 40) + 1234;
  const Wanted wanted = blocks_of(128, 128, 5120, 2, 2, 4, origin);
  const auto borders = borders_of_units(wanted.range, wanted.demands);
  EXPECT_EQ(borders.front(), origin);
  for (int part = 0; part < 256; ++part) EXPECT_TRUE(has(borders, origin + part * 64 * 5120));
}

TEST(Units, SlabsBeginAUnit) {
  Wanted wanted;
  for (int r = 0; r < 16; ++r) wanted.add({View{}, r * int64_t{1'000'003}, 1'000'003});
  const auto borders = borders_of_units(wanted.range, wanted.demands);
  for (int r = 0; r <= 16; ++r) EXPECT_TRUE(has(borders, r * int64_t{1'000'003})) << r;
}

TEST(Units, NothingOverflowsOnTheLargestFiles) {
  Wanted wanted;
  wanted.add({View{}, 3, 100});
  wanted.add({View{}, INT64_MAX - 100, 100});
  wanted.demands[0].hull.end = INT64_MAX;
  wanted.demands[0].access = nullptr;
  const auto borders = borders_of_units(wanted.range, wanted.demands);
  EXPECT_EQ(borders.front(), 3);
  EXPECT_EQ(borders.back(), INT64_MAX);
  EXPECT_TRUE(std::is_sorted(borders.begin(), borders.end()));
  EXPECT_GT(borders.size(), 1000u);
  EXPECT_LT(borders.size(), 1100u);
}

TEST(Units, AscendFromBeginToEndOfAnyRangeAndAreNotTooMany) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    test::Random random(seed);
    Wanted wanted;
    const int64_t most = int64_t{1} << random.between(1, 61);
    const int64_t stride = random.between(1, std::max<int64_t>(2, most / 64));
    for (int64_t r = random.between(1, 40); r > 0; --r) {
      const auto piece = Pattern::loop(Pattern::block(random.between(1, stride)),
                                       random.between(1, 64), random.below(2) ? stride : most / 32);
      if (!piece->sorted()) continue;
      wanted.add({View{random.between(0, most), piece, piece->end()}, 0, piece->size()});
      if (random.below(4) == 0) wanted.demands.back().access = nullptr;
    }
    if (wanted.demands.empty()) continue;
    const auto borders = borders_of_units(wanted.range, wanted.demands);
    ASSERT_EQ(borders.front(), wanted.range.begin) << seed;
    ASSERT_EQ(borders.back(), wanted.range.end) << seed;
    for (size_t i = 1; i < borders.size(); ++i) ASSERT_LT(borders[i - 1], borders[i]) << seed;
    ASSERT_LE(borders.size(), 3 * 1024u) << seed;
  }
}

TEST(UnitsOfParts, HaveAllBytesAndAreOfAboutOneSize) {
  std::vector<plan::Extent> parts{{0, 100}, {1 << 20, (1 << 20) + 100'000}};
  for (int64_t k = 0; k < 5000; ++k) parts.push_back({(k + 2) << 30, ((k + 2) << 30) + 100});
  const auto units = units_of_parts(parts);
  EXPECT_LE(units.size(), 100u);
  size_t unit = 0;
  for (plan::Extent part : parts)
    while (!part.empty()) {
      if (units[unit].end <= part.begin) ++unit;
      ASSERT_LE(units[unit].begin, part.begin);
      ASSERT_GT(units[unit].end, part.begin);
      part.begin = std::min(part.end, units[unit].end);
    }
  EXPECT_EQ(unit + 1, units.size());
}

}  // namespace
}  // namespace haichi::mpiio
