#include "mpiio/occupied.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/wanted.h"

namespace haichi::mpiio {
namespace {

constexpr int64_t kFar = 3'808'557'582;

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
  const auto parts = occupied_parts(wanted.range, wanted.demands);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], (plan::Extent{0, 743}));
  EXPECT_EQ(parts[1].begin, kFar);
  EXPECT_EQ(parts[1].end, wanted.range.end);
}

TEST(Occupied, NoByteIsLeftOut) {
  Wanted wanted;
  for (int r = 0; r < 7; ++r) wanted.add(r * kFar, Pattern::loop(Pattern::block(100), 50, 5000));
  wanted.demands.push_back({{3 * kFar + 77, 3 * kFar + 99'000'000}, 1000, 10, nullptr});
  const auto parts = occupied_parts(wanted.range, wanted.demands);
  ASSERT_FALSE(parts.empty());
  for (const RankDemand& demand : wanted.demands) {
    const auto has_it = [&](const plan::Extent& part) {
      return part.begin <= demand.hull.begin && demand.hull.end <= part.end;
    };
    EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), has_it)) << demand.hull.begin;
  }
}

TEST(Occupied, RegularPiecesAreNotSparse) {
  Wanted strided;
  for (int r = 0; r < 4; ++r)
    strided.add(r * 4000, Pattern::loop(Pattern::block(8), 100'000, 16'000));
  EXPECT_TRUE(occupied_parts(strided.range, strided.demands).empty());
  Wanted rare;
  rare.add(0, Pattern::loop(Pattern::block(8), 1000, 100 << 20));
  EXPECT_TRUE(occupied_parts(rare.range, rare.demands).empty()) << "too many parts";
  Wanted small;
  small.add(0, Pattern::loop(Pattern::block(8), 2, 1 << 20));
  EXPECT_TRUE(occupied_parts(small.range, small.demands).empty()) << "not worth it";
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
