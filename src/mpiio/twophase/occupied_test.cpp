#include "mpiio/twophase/occupied.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/random_placement.h"
#include "support/wanted.h"

namespace haichi::mpiio {
namespace {

constexpr int64_t kFar = 3'808'557'582;
constexpr int64_t kHole = 16 << 10;

/// Rank 0's header at 0 and pieces of all ranks in turn from kFar on.
Wanted header_and_cells(int ranks) {
  Wanted wanted;
  wanted.add(0, Pattern::block(743));
  for (int r = 0; r < ranks; ++r)
    wanted.add(kFar + r * 847, Pattern::loop(Pattern::block(164), 394, ranks * 847));
  return wanted;
}

TEST(Occupied, AHeaderAndCellsFarBehindItAreTwoParts) {
  const Wanted wanted = header_and_cells(16);
  const auto parts = occupied_parts(wanted.range, wanted.demands, kHole, 0);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], (plan::Extent{0, 743}));
  EXPECT_EQ(parts[1].begin, kFar);
  EXPECT_EQ(parts[1].end, wanted.range.end);
}

TEST(Occupied, NoByteIsLeftOut) {
  Wanted wanted;
  for (int r = 0; r < 7; ++r) wanted.add(r * kFar, Pattern::loop(Pattern::block(100), 50, 5000));
  wanted.demands.push_back({{3 * kFar + 77, 3 * kFar + 99'000'000}, 1000, 10, nullptr});
  const auto parts = occupied_parts(wanted.range, wanted.demands, kHole, 0);
  ASSERT_FALSE(parts.empty());
  for (const RankDemand& demand : wanted.demands) {
    const auto has_it = [&](const plan::Extent& part) {
      return part.begin <= demand.hull.begin && demand.hull.end <= part.end;
    };
    EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), has_it)) << demand.hull.begin;
  }
}

TEST(Occupied, DensePiecesAreNotSparse) {
  Wanted strided;
  for (int r = 0; r < 4; ++r)
    strided.add(r * 4000, Pattern::loop(Pattern::block(1500), 100'000, 16'000));
  EXPECT_TRUE(occupied_parts(strided.range, strided.demands, kHole, 0).empty());
  Wanted close;
  close.add(0, Pattern::loop(Pattern::block(8), 100'000, 16'000));
  EXPECT_TRUE(occupied_parts(close.range, close.demands, kHole, 0).empty()) << "no hole is large";
  Wanted many;
  many.add(0, Pattern::loop(Pattern::block(8), 1'000'000, 1 << 20));
  EXPECT_TRUE(occupied_parts(many.range, many.demands, kHole, 0).empty()) << "too many parts";
}

TEST(Occupied, EachOfRegularPiecesThatLieFarApartIsAPart) {
  Wanted rare;
  for (int r = 0; r < 3; ++r) rare.add(r * 8, Pattern::loop(Pattern::block(8), 1000, 100 << 20));
  const auto parts = occupied_parts(rare.range, rare.demands, kHole, 0);
  ASSERT_EQ(parts.size(), 1000u);
  for (int64_t k = 0; k < 1000; ++k) {
    const int64_t begin = k * (100 << 20);
    EXPECT_EQ(parts[size_t(k)], (plan::Extent{begin, begin + 24}));
  }
}

/// Loops of small pieces, and which bytes they have.
Wanted random_loops(test::Random& random, std::vector<bool>& bytes) {
  Wanted wanted;
  const bool alike = random.below(2);
  const int64_t stride = random.between(40, 300);
  for (int64_t rank = random.between(1, 4); rank > 0; --rank) {
    const int64_t begin = random.between(0, 50), size = random.between(1, 9);
    const int64_t apart = alike ? stride : random.between(10, 300);
    wanted.add(begin, Pattern::loop(Pattern::block(size), random.between(1, 30), apart));
  }
  for (const Access& access : wanted.accesses)
    access.for_each_block(access.begin(), access.end(), [&](int64_t at, int64_t n) {
      if (int64_t(bytes.size()) < at + n) bytes.resize(size_t(at + n));
      std::fill_n(bytes.begin() + at, n, true);
    });
  return wanted;
}

TEST(Occupied, PartsHaveAllBytesAndLongHolesBetweenThem) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    test::Random random(seed);
    std::vector<bool> bytes;
    const Wanted wanted = random_loops(random, bytes);
    const int64_t hole = random.between(1, 60), enough = random.below(3) ? 0 : 500;
    const auto parts = occupied_parts(wanted.range, wanted.demands, hole, enough);
    if (parts.empty()) continue;
    found += parts.size();
    size_t at = 0;
    for (const plan::Extent& part : parts) {
      ASSERT_TRUE(at == 0 || part.begin - int64_t(at) >= hole) << seed;
      for (; int64_t(at) < part.begin; ++at) ASSERT_FALSE(bytes[at]) << seed;
      ASSERT_TRUE(bytes[at]) << seed;
      // Of what is mostly holes no long ones are left.
      int64_t empty = 0, full = 0, longest = 0;
      for (; int64_t(at) < part.end; ++at) {
        empty = bytes[at] ? 0 : empty + 1;
        full += bytes[at];
        longest = std::max(longest, empty);
      }
      ASSERT_TRUE(bytes[at - 1]) << seed;
      ASSERT_TRUE(longest < hole || enough > 0 || full > part.size() / 8) << seed;
    }
    ASSERT_EQ(at, bytes.size()) << seed;
  }
  EXPECT_GT(found, 3000u);
}

TEST(Occupied, StripesOfPartsAreDealtOutInTurn) {
  const auto dealt = striped_out({{90, 320}, {1000, 1001}}, 100, 3);
  EXPECT_EQ(dealt[0], (std::vector<plan::Extent>{{90, 100}, {300, 320}}));
  EXPECT_EQ(dealt[1], (std::vector<plan::Extent>{{100, 200}, {1000, 1001}}));
  EXPECT_EQ(dealt[2], (std::vector<plan::Extent>{{200, 300}}));
}

TEST(Occupied, CommonPartsAreInBoth) {
  EXPECT_EQ(common_parts({{0, 10}, {20, 30}, {35, 40}}, {{2, 3}, {5, 25}, {28, 36}}),
            (std::vector<plan::Extent>{{2, 3}, {5, 10}, {20, 25}, {28, 30}, {35, 36}}));
}

TEST(Occupied, PartsAreDealtOutEvenlyWithoutGapsOrOverlaps) {
  const std::vector<plan::Extent> parts{
      {0, 743}, {kFar, kFar + 1'000'000}, {2 * kFar, 2 * kFar + 9}};
  for (const int aggregators : {1, 2, 3, 8, 1000}) {
    const auto dealt = dealt_out(parts, aggregators);
    ASSERT_EQ(int(dealt.size()), aggregators);
    std::vector<plan::Extent> joined;
    for (const auto& list : dealt) {
      EXPECT_LE(size_of(list), size_of(parts) / aggregators + 3 * 4096);
      for (const plan::Extent& part : list) {
        ASSERT_FALSE(part.empty());
        if (!joined.empty() && joined.back().end == part.begin)
          joined.back().end = part.end;
        else
          joined.push_back(part);
      }
    }
    EXPECT_EQ(joined, parts);
  }
}

}  // namespace
}  // namespace haichi::mpiio
