#include "gasfs/plan/arrange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

namespace haichi::gasfs {
namespace {

using ::testing::ElementsAre;

/// What a file has after `arranged` was carried out on it; dots where nothing was written.
std::string written(const Arranged& arranged, const std::string& memory, size_t size) {
  std::string file(size, '.');
  for (const Run& run : arranged.runs) {
    uint64_t at = run.offset;
    for (size_t i = 0; i < run.pieces; ++i) {
      const Piece& piece = arranged.pieces[run.first_piece + i];
      file.replace(at, piece.length, memory, piece.source, piece.length);
      at += piece.length;
    }
    EXPECT_EQ(at, run.offset + run.length);
  }
  return file;
}

std::vector<std::pair<uint64_t, uint64_t>> spans(const Arranged& arranged) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (const Run& run : arranged.runs) found.emplace_back(run.offset, run.length);
  return found;
}

TEST(Arrange, MergesWhatFollowsOnEachOther) {
  const std::vector<Request> requests{{80, 40, 0}, {0, 40, 40}, {40, 40, 80}};
  const Arranged arranged = arrange(requests, {.stripe = 1000});
  EXPECT_THAT(spans(arranged), ElementsAre(std::pair(0, 120)));
  EXPECT_EQ(arranged.pieces.size(), 2u) << "the first two pieces lie side by side in memory";
}

TEST(Arrange, CutsAtTheEdgesOfStripes) {
  const Arranged arranged =
      arrange(std::vector<Request>{{90, 130, 0}}, {.stripe = 100, .servers = 2});
  EXPECT_THAT(spans(arranged),
              ElementsAre(std::pair(90, 10), std::pair(100, 100), std::pair(200, 20)));
  EXPECT_EQ(arranged.runs[0].server, 0u);
  EXPECT_EQ(arranged.runs[1].server, 1u);
  EXPECT_EQ(arranged.runs[2].server, 0u);
}

TEST(Arrange, LetsTheLastToArriveDecide) {
  const std::string memory = "aaaaaabbbbcc";
  const std::vector<Request> requests{{0, 6, 0}, {2, 4, 6}, {3, 2, 10}};
  EXPECT_EQ(written(arrange(requests, {.stripe = 100}), memory, 7), "aabccb.");
}

TEST(Arrange, MakesNothingOfNothing) {
  EXPECT_TRUE(arrange({}, {}).runs.empty());
  EXPECT_TRUE(arrange(std::vector<Request>{{5, 0, 0}}, {}).runs.empty());
}

TEST(CutOnly, KeepsTheOrderOfArrival) {
  const std::vector<Request> requests{{80, 40, 0}, {0, 40, 40}, {40, 40, 80}};
  EXPECT_THAT(
      spans(cut_only(requests, {.stripe = 100})),
      ElementsAre(std::pair(80, 20), std::pair(100, 20), std::pair(0, 40), std::pair(40, 40)));
}

struct Case {
  std::vector<Request> requests;
  std::string memory;
  std::string file;
  Layout layout;
};

/// Random requests, what they carry and the file that they make if written one after the other.
Case random_case(std::mt19937_64& random) {
  const auto draw = [&](uint64_t most) { return random() % (most + 1); };
  Case made;
  made.layout = {.stripe = 1 + draw(60), .servers = static_cast<uint32_t>(1 + draw(4))};
  made.layout.first = static_cast<uint32_t>(draw(made.layout.servers - 1));
  made.file.assign(400, '.');
  const uint64_t longest = draw(1) ? 8 : 120;
  for (uint64_t n = draw(60); n > 0; --n) {
    const uint64_t offset = draw(300), length = std::min<uint64_t>(draw(longest), 400 - offset);
    made.requests.push_back({offset, length, made.memory.size()});
    for (uint64_t i = 0; i < length; ++i)
      made.memory += made.file[offset + i] = static_cast<char>('a' + draw(25));
  }
  return made;
}

TEST(Arrange, WritesWhatOneAfterTheOtherWould) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 3000; ++i) {
    const Case made = random_case(random);
    const Arranged arranged = arrange(made.requests, made.layout);
    ASSERT_EQ(written(arranged, made.memory, made.file.size()), made.file) << "case " << i;
    ASSERT_EQ(written(cut_only(made.requests, made.layout), made.memory, made.file.size()),
              made.file);
    uint64_t end = 0;
    for (const auto& run : arranged.runs) {
      ASSERT_GE(run.offset, end);
      ASSERT_TRUE(run.offset > end || run.offset % made.layout.stripe == 0 || end == 0)
          << "two runs of one stripe touch";
      ASSERT_LE(run.length, left_in_stripe(made.layout, run.offset));
      ASSERT_EQ(run.server, server_of(made.layout, run.offset));
      end = run.offset + run.length;
    }
  }
}

TEST(Overlay, ShowsWhatWasWrittenLast) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 1000; ++i) {
    const Case made = random_case(random);
    const uint64_t offset = random() % 300, length = random() % 100;
    std::string seen(length, '.');
    for (const Patch& patch : overlay(made.requests, offset, length))
      seen.replace(patch.at, patch.length, made.memory, patch.source, patch.length);
    ASSERT_EQ(seen, made.file.substr(offset, length)) << "case " << i;
  }
}

}  // namespace
}  // namespace haichi::gasfs
