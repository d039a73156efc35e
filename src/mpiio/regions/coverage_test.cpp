#include "mpiio/regions/coverage.h"

#include <gtest/gtest.h>

#include "support/random_placement.h"

namespace haichi::mpiio {
namespace {

using plan::Extent;

Access strided(int64_t displacement, int64_t block, int64_t stride, int64_t count) {
  const View view{displacement, Pattern::block(block), stride};
  return {view, 0, block * count};
}

std::vector<Extent> list(const RunList& runs) { return {runs.begin(), runs.end()}; }

/// Byte by byte.
struct Counted {
  std::vector<Extent> runs;
  bool overlap = false;
};

Counted counted(const std::vector<Access>& accesses, Extent window) {
  std::vector<int> times(size_t(window.size()), 0);
  for (const Access& access : accesses)
    access.for_each_block(access.begin(), access.end(), [&](int64_t at, int64_t n) {
      for (int64_t i = std::max(at, window.begin); i < std::min(at + n, window.end); ++i)
        ++times[size_t(i - window.begin)];
    });
  Counted result;
  for (int64_t i = 0; i < window.size(); ++i) {
    const int64_t at = window.begin + i;
    result.overlap |= times[size_t(i)] > 1;
    if (times[size_t(i)] == 0) continue;
    if (!result.runs.empty() && result.runs.back().end == at)
      ++result.runs.back().end;
    else
      result.runs.push_back({at, at + 1});
  }
  return result;
}

void expect_equal(const std::vector<Access>& accesses, Extent window, uint64_t seed) {
  const Coverage found = coverage_of(accesses, window);
  const Counted wanted = counted(accesses, window);
  ASSERT_EQ(list(found.runs), wanted.runs) << seed;
  ASSERT_EQ(found.overlap, wanted.overlap) << seed;
}

/// A sorted tile: a loop of blocks, or irregular blocks, or a loop of some.
PatternPtr random_tile(test::Random& random, int64_t most) {
  PatternBuilder tile;
  int64_t at = random.between(0, 3);
  for (int64_t i = random.between(1, most); i > 0; --i) {
    const int64_t n = random.between(1, 5);
    tile.add(at, n);
    at += n + random.between(0, 5);
  }
  PatternPtr pattern = tile.build();
  if (random.below(3) == 0)
    pattern = Pattern::loop(pattern, random.between(1, 6),
                            pattern->end() - pattern->begin() + random.between(0, 4));
  return pattern;
}

TEST(Coverage, IsWhatCountingBytesGives) {
  for (uint64_t seed = 0; seed < 6000; ++seed) {
    test::Random random(seed);
    std::vector<Access> accesses;
    const bool same_extent = random.below(2);
    const int64_t common = random.between(1, 4) * 12;
    for (int64_t r = random.between(0, 6); r > 0; --r) {
      const PatternPtr tile = random_tile(random, same_extent ? 2 : 5);
      int64_t extent = tile->end() - tile->begin() + random.between(0, 6);
      if (same_extent && extent <= common) extent = random.below(4) ? common : 2 * common;
      const View view{random.between(0, 60), tile, extent};
      const int64_t begin = random.between(0, 20);
      accesses.emplace_back(view, begin, random.between(0, tile->size() * 40));
    }
    const int64_t begin = random.between(0, 200);
    expect_equal(accesses, {begin, begin + random.between(1, 1500)}, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Coverage, OfManySmallBlocksIsTheSame) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    test::Random random(seed);
    std::vector<Access> accesses;
    for (int r = 0; r < 3; ++r) {
      PatternBuilder tile;
      for (int64_t at = random.between(0, 5); at < 5000; at += random.between(2, 12))
        tile.add(at, random.between(1, 2));
      const View view{0, tile.build(), 5000};
      accesses.emplace_back(view, 0, view.tile->size());
    }
    expect_equal(accesses, {random.between(0, 100), 4900}, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(Coverage, OfRegularRanksThatTakeTurnsIsOneRun) {
  std::vector<Access> accesses;
  for (int r = 0; r < 256; ++r) accesses.push_back(strided(8 * r, 8, 8 * 256, 100'000));
  const Coverage found = coverage_of(accesses, plan::Extent{8 << 20, 16 << 20});
  EXPECT_EQ(list(found.runs), (std::vector<Extent>{{8 << 20, 16 << 20}}));
  EXPECT_FALSE(found.overlap);
}

TEST(Coverage, OfRegularRanksWithHolesIsAFewNumbers) {
  const std::vector<Access> accesses = {strided(0, 8, 64, 1 << 20), strided(16, 8, 64, 1 << 20)};
  const Coverage found = coverage_of(accesses, plan::Extent{4, 16 << 20});
  EXPECT_EQ(found.runs.size(), 2u * (1 << 18));
  EXPECT_LT(found.runs.footprint(), 1000u);
  EXPECT_EQ(found.runs[0], (Extent{4, 8}));
  EXPECT_EQ(found.runs[2001], (Extent{64 * 1000 + 16, 64 * 1000 + 24}));
  EXPECT_EQ(found.runs.back(), (Extent{(16 << 20) - 48, (16 << 20) - 40}));
}

TEST(Coverage, SeesTheOneByteThatIsGivenTwice) {
  std::vector<Access> accesses = {strided(0, 8, 16, 100'000), strided(8, 8, 16, 100'000)};
  EXPECT_FALSE(coverage_of(accesses, plan::Extent{0, 1 << 20}).overlap);
  accesses.push_back(strided((1 << 19) + 3, 1, 1, 1));
  EXPECT_TRUE(coverage_of(accesses, plan::Extent{0, 1 << 20}).overlap);
}

TEST(RunList, IsSearchedLikeAnyList) {
  const std::vector<Access> accesses = {strided(0, 3, 10, 1000)};
  const RunList runs = coverage_of(accesses, plan::Extent{0, 10'000}).runs;
  const auto found = std::upper_bound(runs.begin(), runs.end(), 5004,
                                      [](int64_t at, const Extent& r) { return at < r.end; });
  ASSERT_NE(found, runs.end());
  EXPECT_EQ(found->begin, 5010);
}

/// The parts of a file that holds of some bytes leave.
std::vector<plan::WindowPart> parts_between(const std::vector<Extent>& runs, int64_t hole) {
  std::vector<plan::WindowPart> parts;
  for (const Extent& run : runs) {
    if (!parts.empty() && run.begin - parts.back().extent.end < hole) {
      parts.back().extent.end = run.end;
      continue;
    }
    const int64_t at = parts.empty() ? 0 : parts.back().at + parts.back().extent.size();
    parts.push_back({run, at});
  }
  return parts;
}

TEST(Coverage, OfAWindowInPartsIsThatOfItsRange) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    test::Random random(seed);
    std::vector<Access> accesses;
    const bool dense = random.below(2);
    for (int64_t n = random.between(1, 5); n > 0; --n)
      accesses.push_back(strided(random.between(0, 50), dense ? 1 : random.between(1, 9),
                                 dense ? random.between(2, 3) : random.between(10, 90),
                                 random.between(1, 400)));
    const Counted wanted = counted(accesses, {0, 40'000});
    const auto parts = parts_between(wanted.runs, random.between(1, 60));
    if (parts.size() < 2) continue;
    const Coverage found = coverage_of(accesses, plan::WindowLayout(parts));
    ASSERT_EQ(list(found.runs), wanted.runs) << seed;
    ASSERT_EQ(found.overlap, wanted.overlap) << seed;
  }
}

}  // namespace
}  // namespace haichi::mpiio
