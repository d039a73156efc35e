#include "report/log_form.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace haichi::report {
namespace {

TEST(Frame, HasTheCrc32ThatOthersKnow) {
  // Of "\2\0\0\0\1{}", as zlib's crc32() says.
  EXPECT_EQ(sealed_frame(FrameKind::text, "{}").substr(0, 4), "\xdc\x09\x4e\xe9");
}

TEST(Frame, ShowsWhateverHappenedToIt) {
  const std::string frame = sealed_frame(FrameKind::text, R"({"call": 1})");
  std::string_view bytes = frame;
  const TakenFrame taken = take_frame(bytes);
  EXPECT_TRUE(taken.whole);
  EXPECT_EQ(taken.kind, FrameKind::text);
  EXPECT_EQ(taken.payload, R"({"call": 1})");
  EXPECT_EQ(bytes, "");
  for (size_t cut = 1; cut < frame.size(); ++cut)
    for (const size_t unwritten : {0, 100}) {
      const std::string torn = frame.substr(0, cut) + std::string(unwritten, '\0');
      bytes = torn;
      EXPECT_FALSE(take_frame(bytes).whole) << cut;
    }
  for (size_t at = 0; at < frame.size(); ++at) {
    std::string changed = frame;
    changed[at] ^= 1;
    bytes = changed;
    EXPECT_FALSE(take_frame(bytes).whole) << at;
  }
}

TEST(Frame, EndsWhereNobodyHasWritten) {
  const std::string frames = sealed_frame(FrameKind::text, "1") +
                             sealed_frame(FrameKind::call, "") + std::string(20, '\0');
  std::string_view bytes = frames;
  EXPECT_EQ(take_frame(bytes).payload, "1");
  EXPECT_EQ(take_frame(bytes).kind, FrameKind::call);
  const TakenFrame none = take_frame(bytes);
  EXPECT_EQ(none.kind, FrameKind::none);
  EXPECT_TRUE(none.whole);
  EXPECT_EQ(bytes, "");
}

/// Ranks a node, nodes, bytes for all.
class Layout : public ::testing::TestWithParam<std::tuple<int, int, int64_t>> {};

TEST_P(Layout, GivesPartsThatDoNotOverlapAndStayWithinTheBytes) {
  const auto [per_node, nodes, most] = GetParam();
  const LogLayout layout(per_node * nodes, nodes, per_node, most);
  int64_t all = 0, with_part = 0;
  for (int node = 0; node < nodes; ++node) {
    int64_t end = kHeadBytes;
    for (int local = 0; local < per_node; ++local) {
      const auto part = layout.part(node, local);
      if (!part) continue;
      ++with_part;
      EXPECT_EQ(part->begin, end);
      EXPECT_GE(part->size, kLeastShare);
      end += part->size;
    }
    if (end > kHeadBytes) all += end;
  }
  EXPECT_LE(all, most);
  EXPECT_GE(with_part, 1) << "rank 0 says what the job is";
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Layout,
    ::testing::Combine(::testing::Values(1, 4, 128), ::testing::Values(1, 8, 1024),
                       ::testing::Values(int64_t{4096}, int64_t{1} << 20, int64_t{1} << 30)));

TEST(LogLayout, GivesEachOf1024RanksAPartOfOneMiB) {
  for (const int nodes : {8, 1024}) {
    const int per_node = 1024 / nodes;
    const LogLayout layout(1024, nodes, per_node, 1 << 20);
    for (int node = 0; node < nodes; ++node)
      for (int local = 0; local < per_node; ++local) EXPECT_TRUE(layout.part(node, local));
  }
}

}  // namespace
}  // namespace haichi::report
