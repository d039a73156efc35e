#include "plan/file_domains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random_placement.h"

namespace haichi::plan {
namespace {

using ::testing::ElementsAre;

std::vector<Extent> windows_of(const FileDomains& domains, int a) {
  std::vector<Extent> windows(static_cast<size_t>(domains.cycles()));
  for (size_t c = 0; c < windows.size(); ++c) windows[c] = domains.window(a, int64_t(c));
  return windows;
}

TEST(FileDomains, ContiguousDomainsAreEvenAndCutByTheBuffer) {
  const FileDomains domains({0, 100}, 2, 20, 0, 0);
  EXPECT_EQ(domains.cycles(), 3);
  EXPECT_THAT(windows_of(domains, 0), ElementsAre(Extent{0, 20}, Extent{20, 40}, Extent{40, 50}));
  EXPECT_THAT(windows_of(domains, 1), ElementsAre(Extent{50, 70}, Extent{70, 90}, Extent{90, 100}));
  EXPECT_EQ(domains.hull(1), (Extent{50, 100}));
}

TEST(FileDomains, BordersAreAlignedButTheRangesOwn) {
  const FileDomains domains({5, 47}, 2, 25, 0, 10);  // blocks 0..4: three and two
  EXPECT_EQ(domains.hull(0), (Extent{5, 30}));
  EXPECT_EQ(domains.hull(1), (Extent{30, 47}));
  EXPECT_THAT(windows_of(domains, 0), ElementsAre(Extent{5, 20}, Extent{20, 30}));
  EXPECT_THAT(windows_of(domains, 1), ElementsAre(Extent{30, 47}, Extent{}));
}

TEST(FileDomains, AShortRangeLeavesTheLastAggregatorsWithoutWork) {
  const FileDomains domains({3, 5}, 4, 16, 0, 0);
  EXPECT_EQ(domains.cycles(), 1);
  EXPECT_EQ(domains.window(0, 0), (Extent{3, 4}));
  EXPECT_EQ(domains.window(1, 0), (Extent{4, 5}));
  EXPECT_EQ(domains.window(2, 0), Extent{});
  EXPECT_EQ(domains.hull(3), Extent{});
}

// Paper 000, Fig. 2: stripe s belongs to aggregator s % 8; with two servers each aggregator stays
// at one of them.
TEST(FileDomains, StripesAreDealtToAggregators) {
  const FileDomains domains({100, 1900}, 8, 100, 100, 0);
  EXPECT_EQ(domains.cycles(), 3);
  EXPECT_THAT(windows_of(domains, 1),
              ElementsAre(Extent{100, 200}, Extent{900, 1000}, Extent{1700, 1800}));
  EXPECT_THAT(windows_of(domains, 0), ElementsAre(Extent{800, 900}, Extent{1600, 1700}, Extent{}));
  EXPECT_EQ(domains.hull(0), (Extent{800, 1700}));
}

TEST(FileDomains, AStripeLargerThanTheBufferTakesSeveralCycles) {
  const FileDomains domains({40, 330}, 2, 40, 100, 0);
  EXPECT_THAT(windows_of(domains, 0),
              ElementsAre(Extent{}, Extent{40, 80}, Extent{80, 100}, Extent{200, 240},
                          Extent{240, 280}, Extent{280, 300}));
  EXPECT_THAT(windows_of(domains, 1),
              ElementsAre(Extent{100, 140}, Extent{140, 180}, Extent{180, 200}, Extent{300, 330},
                          Extent{}, Extent{}));
}

TEST(FileDomains, PartsOfAStripeThatNobodyNeedsAreNoCycles) {
  const FileDomains inside({1050, 1060}, 4, 10, 100, 0);  // one stripe: no cycles around the range
  EXPECT_EQ(inside.cycles(), 1);
  EXPECT_EQ(inside.window(2, 0), (Extent{1050, 1060}));
  const FileDomains tail({0, 205}, 2, 10, 100, 0);  // stripe 2 is alone in the last group
  EXPECT_EQ(tail.cycles(), 11);
}

TEST(FileDomains, OneStripeIsOneCycleHoweverLargeTheBuffer) {
  const FileDomains domains({0, 400}, 2, 1000, 100, 0);
  EXPECT_EQ(domains.cycles(), 2);
  EXPECT_EQ(domains.window(1, 1), (Extent{300, 400}));
}

TEST(FileDomains, OutOfRangeAsksForNothing) {
  for (const int64_t stripe : {0, 7}) {
    const FileDomains domains({0, 100}, 2, 20, stripe, 0);
    EXPECT_EQ(domains.window(0, domains.cycles()), Extent{});
    EXPECT_EQ(domains.window(0, INT64_MAX), Extent{});
    EXPECT_EQ(domains.window(0, -1), Extent{});
    EXPECT_EQ(domains.window(2, 0), Extent{});
    EXPECT_EQ(domains.window(-1, 0), Extent{});
    EXPECT_EQ(domains.hull(2), Extent{});
    const FileDomains none({50, 50}, 2, 20, stripe, 0);
    EXPECT_EQ(none.cycles(), 0);
    EXPECT_EQ(none.window(0, 0), Extent{});
    EXPECT_EQ(none.hull(0), Extent{});
  }
}

TEST(FileDomains, SizesBelowOneCountAsOne) {
  const FileDomains domains({0, 3}, 0, 0, -5, -5);
  EXPECT_EQ(domains.aggregators(), 1);
  EXPECT_THAT(windows_of(domains, 0), ElementsAre(Extent{0, 1}, Extent{1, 2}, Extent{2, 3}));
}

struct Case {
  Extent range;
  int aggregators;
  int64_t buffer, stripe, alignment;
};

Case random_case(test::Random& random, int64_t base) {
  Case c;
  const int64_t begin = (base > 0 ? base - 4000 : 0) + random.below(3000);
  c.range = {begin, begin + random.below(random.mostly_small(900) + 1)};
  c.aggregators = int(random.between(1, 20));
  c.buffer = random.mostly_small(300);
  c.stripe = random.below(2) ? random.mostly_small(400) : 0;
  c.alignment = random.below(2) ? random.mostly_small(64) : 0;
  return c;
}

void expect_tiles(const FileDomains& domains, const Case& c) {
  std::vector<Extent> all;
  bool last_cycle_used = false;
  for (int a = 0; a < c.aggregators; ++a) {
    Extent hull;
    int64_t reached = INT64_MIN;
    for (int64_t cycle = 0; cycle < domains.cycles(); ++cycle) {
      const Extent w = domains.window(a, cycle);
      if (w.empty()) {
        ASSERT_EQ(w, Extent{});
        continue;
      }
      ASSERT_LE(w.size(), c.buffer);
      ASSERT_GE(w.begin, reached) << "cycles must ascend";
      reached = w.end;
      hull = {hull.empty() ? w.begin : hull.begin, w.end};
      all.push_back(w);
      last_cycle_used |= cycle == domains.cycles() - 1;
      if (c.stripe == 0) continue;
      ASSERT_EQ(w.begin / c.stripe, (w.end - 1) / c.stripe) << "crosses a stripe";
      ASSERT_EQ(w.begin / c.stripe % c.aggregators, a);
    }
    ASSERT_EQ(domains.hull(a), hull);
  }
  ASSERT_EQ(last_cycle_used, !c.range.empty());
  std::sort(all.begin(), all.end(), [](auto& x, auto& y) { return x.begin < y.begin; });
  int64_t at = c.range.begin;
  for (const Extent& w : all) {
    ASSERT_EQ(w.begin, at) << "a gap or an overlap";
    at = w.end;
  }
  ASSERT_EQ(at, c.range.empty() ? c.range.begin : c.range.end);
}

void expect_even_and_aligned(const FileDomains& domains, const Case& c) {
  const int64_t grain = std::max(int64_t{1}, c.alignment);
  const auto blocks = [&](const Extent& e) {
    return e.empty() ? 0 : (e.end - 1) / grain - e.begin / grain + 1;
  };
  const auto is_border = [&](int64_t at) {
    return at % grain == 0 || at == c.range.begin || at == c.range.end;
  };
  bool nothing_yet = false;
  for (int a = 0; a < c.aggregators; ++a) {
    const Extent hull = domains.hull(a);
    ASSERT_LE(blocks(domains.hull(c.aggregators - 1)), blocks(hull));
    ASSERT_LE(blocks(domains.hull(0)) - blocks(hull), 1);
    ASSERT_FALSE(nothing_yet && !hull.empty()) << "empty domains come last";
    nothing_yet = hull.empty();
    if (hull.empty()) continue;
    ASSERT_TRUE(is_border(hull.begin) && is_border(hull.end));
    if (c.buffer < grain) continue;
    for (int64_t cycle = 0; cycle < domains.cycles(); ++cycle) {
      const Extent w = domains.window(a, cycle);
      ASSERT_TRUE(w.empty() || (is_border(w.begin) && is_border(w.end)));
    }
  }
}

void check_random_cases(uint64_t seed, int64_t base) {
  test::Random random(seed);
  for (int trial = 0; trial < 4000; ++trial) {
    const Case c = random_case(random, base);
    const FileDomains domains(c.range, c.aggregators, c.buffer, c.stripe, c.alignment);
    SCOPED_TRACE(::testing::Message()
                 << "trial " << trial << ": [" << c.range.begin << ", " << c.range.end << "), "
                 << c.aggregators << " aggregators, buffer " << c.buffer << ", stripe " << c.stripe
                 << ", alignment " << c.alignment);
    expect_tiles(domains, c);
    if (c.stripe == 0 && !c.range.empty()) expect_even_and_aligned(domains, c);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(FileDomainsProperty, WindowsTileTheRange) { check_random_cases(1, 0); }

TEST(FileDomainsProperty, WindowsTileTheRangeFarOut) {
  check_random_cases(2, int64_t{1} << 62);
  check_random_cases(3, INT64_MAX);
}

TEST(FileDomains, PartsAreCutEvenlyInWholePages) {
  const FileDomains domains({{{1000, 1000 + 147456}, {400000, 400100}}, {}, {{200000, 290000}}},
                            131072);
  EXPECT_EQ(domains.cycles(), 3);
  EXPECT_EQ(domains.window(0, 0), (Extent{1000, 1000 + 73728}));
  EXPECT_EQ(domains.window(0, 1), (Extent{1000 + 73728, 1000 + 147456}));
  EXPECT_EQ(domains.window(0, 2), (Extent{400000, 400100}));
  EXPECT_EQ(domains.window(1, 0), Extent{});
  EXPECT_EQ(domains.window(2, 0), (Extent{200000, 290000}));
  EXPECT_EQ(domains.window(2, 1), Extent{});
}

// Who has a quarter of what another one has is busy in all cycles, not in the first quarter of
// them.
TEST(FileDomains, WhoHasMuchLessHasSmallerWindows) {
  constexpr int64_t kBuffer = 256 << 10, kMost = 16 * kBuffer;
  const FileDomains domains({{{0, kMost}},
                             {{kMost, kMost + kMost / 4}},
                             {{2 * kMost, 2 * kMost + 1}},
                             {{3 * kMost, 3 * kMost + kMost * 3 / 4}}},
                            kBuffer);
  EXPECT_EQ(domains.cycles(), 16);
  EXPECT_EQ(domains.window(0, 15).size(), kBuffer);
  EXPECT_EQ(domains.window(1, 15).size(), kBuffer / 4);
  EXPECT_EQ(domains.window(2, 0).size(), 1);
  EXPECT_EQ(domains.window(3, 11).size(), kBuffer) << "not so much less";
}

TEST(FileDomains, WindowsOfPartsAreNoLargerThanTheBuffer) {
  for (const int64_t buffer : {1, 1000, 4096, 5000, 131072, 1 << 30})
    for (const int64_t size : {1, 999, 4096, 10000, 131073}) {
      const FileDomains domains({{{7, 7 + size}}}, buffer);
      int64_t at = 7;
      for (int64_t c = 0; c < domains.cycles(); ++c) {
        const Extent window = domains.window(0, c);
        ASSERT_EQ(window.begin, at);
        ASSERT_TRUE(window.size() > 0 && window.size() <= buffer) << size << " by " << buffer;
        at = window.end;
      }
      ASSERT_EQ(at, 7 + size);
    }
}

std::vector<Extent> parts_of(const WindowLayout& window) {
  std::vector<Extent> parts;
  window.for_each_part([&](const Extent& part) { parts.push_back(part); });
  return parts;
}

TEST(FileDomains, PackedWindowsHoldSeveralPartsWithNobodysBytesBetween) {
  const auto domains = FileDomains::packed({{{0, 10}, {100, 110}, {300, 310}}, {{200, 220}}}, 64);
  ASSERT_EQ(domains.cycles(), 2);
  EXPECT_THAT(parts_of(domains.layout(0, 0)), ElementsAre(Extent{0, 10}, Extent{100, 110}));
  EXPECT_EQ(domains.window(0, 0), (Extent{0, 110}));
  EXPECT_EQ(domains.layout(0, 0).bytes(), 20);
  EXPECT_THAT(parts_of(domains.layout(0, 1)), ElementsAre(Extent{300, 310}));
  EXPECT_FALSE(domains.layout(0, 1).in_parts());
  EXPECT_THAT(parts_of(domains.layout(1, 0)), ElementsAre(Extent{200, 220}));
  EXPECT_THAT(parts_of(domains.layout(1, 1)), ElementsAre());
}

/// Ascending parts of a file, each one of some aggregator's.
std::vector<std::vector<Extent>> random_parts(test::Random& random) {
  std::vector<std::vector<Extent>> parts(size_t(random.between(1, 5)));
  int64_t at = random.between(0, 9000);
  const int64_t most = random.between(1, 9000);
  for (int64_t n = random.between(0, 60); n > 0; --n) {
    const int64_t end = at + random.between(1, most);
    parts[random.below(3) ? 0 : size_t(random.below(parts.size()))].push_back({at, end});
    at = end + random.between(0, 20'000);
  }
  return parts;
}

TEST(FileDomains, PackedWindowsHaveEveryByteOnceAndKeepOutOfEachOther) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    test::Random random(seed);
    const auto parts = random_parts(random);
    const int64_t buffer = random.between(1, 30'000);
    const auto domains = FileDomains::packed(parts, buffer);
    std::vector<Extent> hulls;
    for (int a = 0; a < domains.aggregators(); ++a) {
      std::vector<Extent> joined;
      for (int64_t c = 0; c < domains.cycles(); ++c) {
        const WindowLayout window = domains.layout(a, c);
        ASSERT_LE(window.bytes(), buffer) << seed;
        ASSERT_EQ(window.hull(), domains.window(a, c)) << seed;
        if (window.bytes() > 0) hulls.push_back(window.hull());
        WindowPlaces places(window);
        int64_t bytes = 0;
        window.for_each_part([&](const Extent& part) {
          ASSERT_FALSE(part.empty()) << seed;
          ASSERT_EQ(places(part.begin), bytes) << seed;
          ASSERT_EQ(places(part.end - 1), (bytes += part.size()) - 1) << seed;
          joined.push_back(part);
        });
        ASSERT_EQ(bytes, window.bytes()) << seed;
      }
      const auto join = [](std::vector<Extent> list) {
        std::vector<Extent> result;
        for (const Extent& each : list)
          if (!result.empty() && result.back().end == each.begin)
            result.back().end = each.end;
          else
            result.push_back(each);
        return result;
      };
      ASSERT_EQ(join(joined), join(parts[size_t(a)])) << seed;
    }
    std::sort(hulls.begin(), hulls.end(),
              [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < hulls.size(); ++i) ASSERT_LE(hulls[i - 1].end, hulls[i].begin) << seed;
  }
}

// All the bytes that a file can have: windows cannot be listed, so both ends and their neighbours
// are looked at.
TEST(FileDomains, NothingOverflowsOnTheLargestFiles) {
  for (const int64_t end : {int64_t{1} << 62, INT64_MAX})
    for (const int64_t stripe : {int64_t{0}, int64_t{1}, int64_t{1} << 20, int64_t{3} << 61})
      for (const int64_t buffer : {int64_t{1}, int64_t{16} << 20, INT64_MAX})
        for (const int64_t alignment : {int64_t{0}, int64_t{4096}, INT64_MAX})
          for (const int aggregators : {1, 7, 100'000}) {
            const FileDomains domains({3, end}, aggregators, buffer, stripe, alignment);
            const std::string what =
                ::testing::PrintToString(std::vector<int64_t>{end, stripe, buffer, alignment}) +
                " " + std::to_string(aggregators);
            ASSERT_GT(domains.cycles(), 0) << what;
            int64_t least = INT64_MAX, most = 0;
            for (const int a : {0, std::min(1, aggregators - 1), aggregators - 1})
              for (const int64_t c : {int64_t{0}, domains.cycles() / 2, domains.cycles() - 1}) {
                const Extent w = domains.window(a, c), hull = domains.hull(a);
                if (w.empty()) continue;
                ASSERT_TRUE(w.begin >= hull.begin && w.end <= hull.end) << what;
                ASSERT_LE(w.size(), buffer) << what;
                least = std::min(least, w.begin);
                most = std::max(most, w.end);
              }
            ASSERT_GE(least, 3) << what;
            ASSERT_LE(most, end) << what;
            int64_t bytes = 0;  // of all hulls that are disjoint: the contiguous ones
            for (int a = 0; stripe == 0 && a < aggregators; ++a) bytes += domains.hull(a).size();
            ASSERT_TRUE(stripe > 0 || bytes == end - 3) << what;
          }
}

}  // namespace
}  // namespace haichi::plan
