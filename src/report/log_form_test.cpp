#include "report/log_form.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace haichi::report {
namespace {

TEST(Seal, IsTheCrc32ThatOthersKnow) {
  EXPECT_EQ(sealed("123456789"), "cbf43926 123456789\n");  // the check value of CRC-32/ISO-HDLC
}

TEST(Seal, ShowsWhateverHappenedToTheLine) {
  const std::string line = sealed(R"({"call": 1})");
  const std::string whole = line.substr(0, line.size() - 1);
  EXPECT_EQ(opened(whole), R"({"call": 1})");
  for (size_t cut = 0; cut < whole.size(); ++cut) EXPECT_FALSE(opened(whole.substr(0, cut))) << cut;
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] ^= 1;
    EXPECT_FALSE(opened(changed)) << at;
  }
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
