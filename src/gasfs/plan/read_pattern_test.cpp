#include "gasfs/plan/read_pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace haichi::gasfs {
namespace {

constexpr uint64_t kMost = 4 << 20;

/// Offsets of all that is told to be read ahead, in pieces of 4 KiB.
void add(const std::optional<Ahead>& ahead, std::multiset<uint64_t>& pages) {
  for (uint32_t i = 0; ahead && i < ahead->count; ++i) {
    const uint64_t at = ahead->offset + i * ahead->stride;
    for (uint64_t page = at / 4096; page <= (at + ahead->length - 1) / 4096; ++page) {
      pages.insert(page);
    }
  }
}

TEST(ReadPattern, GoesAheadOfASequenceAndTellsOfNothingTwice) {
  ReadPattern pattern(kMost);
  std::multiset<uint64_t> pages;
  uint64_t missed = 0, furthest = 0;
  for (uint64_t at = 0; at < 64 << 20; at += 65536) {
    missed += pages.count(at / 4096) == 0;
    const auto ahead = pattern.read(at, 65536);
    if (ahead) furthest = std::max(furthest, ahead->offset + ahead->length - at - 65536);
    add(ahead, pages);
  }
  EXPECT_LE(missed, 2u);
  EXPECT_LE(furthest, kMost);
  for (uint64_t page = 64; page < 1000; ++page) EXPECT_EQ(pages.count(page), 1u) << page;
}

TEST(ReadPattern, StepsAheadOfPiecesThatLieEquallyFarApart) {
  ReadPattern pattern(kMost);
  std::multiset<uint64_t> pages;
  uint64_t missed = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    const uint64_t at = (1 << 20) * i;
    missed += pages.count(at / 4096) == 0;
    add(pattern.read(at, 4096), pages);
  }
  EXPECT_LE(missed, 3u);
  for (const uint64_t page : pages) EXPECT_EQ(page % 256, 0u) << "nothing in between";
  EXPECT_EQ(std::set(pages.begin(), pages.end()).size(), pages.size()) << "nothing twice";
}

TEST(ReadPattern, SeesTheSequenceOfProcessesThatReadInTurns) {
  ReadPattern all(kMost);
  std::multiset<uint64_t> pages;
  uint64_t missed = 0;
  for (uint64_t i = 0; i < 400; ++i) {  // each process reads every fourth megabyte, once
    const uint64_t at = i << 20;
    missed += pages.count(at / 4096) == 0;
    add(all.read(at, 1 << 20), pages);
  }
  EXPECT_LE(missed, 2u);
}

TEST(ReadPattern, LeavesWhatHasNoPatternAlone) {
  ReadPattern pattern(kMost);
  std::mt19937_64 random(1);
  std::multiset<uint64_t> pages;
  for (int i = 0; i < 5000; ++i) add(pattern.read(random() % (uint64_t{1} << 40), 4096), pages);
  EXPECT_EQ(pages.size(), 0u);
  for (int i = 0; i < 50; ++i) add(pattern.read(4096, 4096), pages);
  EXPECT_EQ(pages.size(), 0u) << "the same again and again";
}

}  // namespace
}  // namespace haichi::gasfs
