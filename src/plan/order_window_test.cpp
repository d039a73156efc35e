#include "plan/order_window.h"

#include <gmock/gmock.h>

#include <numeric>

#include "support/random_placement.h"

namespace haichi::plan {
namespace {

using placement::Placement;
using testing::ElementsAre;

std::vector<int> all_ranks(const Placement& placement) {
  std::vector<int> ranks(size_t(placement.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::vector<std::string> texts(const std::vector<OrderWindow>& pairs) {
  std::vector<std::string> result;
  for (const OrderWindow& pair : pairs) result.push_back(pair.text());
  return result;
}

TEST(OrderWindow, TheUsualIsTriedFirst) {
  const Placement placement = placement::block(4, 4);
  const std::vector<int> ranks = all_ranks(placement);
  const OrderWindow usual = {IssueOrder::rank, 5};
  const auto pairs = pairs_to_try(placement, {ranks, ranks, false, 2}, usual);
  EXPECT_EQ(pairs.front(), usual);
  EXPECT_EQ(pairs.size(), 9u);
}

TEST(OrderWindow, AWindowThatIsNeverReachedIsNoLimit) {
  const Placement placement = placement::block(4, 4);
  const std::vector<int> ranks = all_ranks(placement), aggregators = {0, 4, 8, 12};
  // Eight messages at most, so that 32 is as none; then four, which is as none too.
  EXPECT_THAT(texts(pairs_to_try(placement, {ranks, aggregators, false, 2}, {})),
              ElementsAre("nd_rank_shift,32", "nd_rank_shift,4"));
  EXPECT_THAT(texts(pairs_to_try(placement, {ranks, aggregators, false, 1}, {})),
              ElementsAre("nd_rank_shift,32"));
}

TEST(OrderWindow, OrdersThatIssueAlikeAreOne) {
  // From any rank the other nodes' aggregators are met in the order of the nodes, either way.
  const Placement blocks = placement::block(4, 4);
  const std::vector<int> ranks = all_ranks(blocks), aggregators = {0, 4, 8, 12};
  EXPECT_THAT(texts(pairs_to_try(blocks, {ranks, aggregators, false, 2}, {})),
              ElementsAre("nd_rank_shift,32", "nd_rank_shift,4"));
  // Not if the ranks send to that of their own node too, which pairwise may have first.
  const std::vector<int> second = {1, 5, 9, 13};
  EXPECT_THAT(texts(pairs_to_try(blocks, {ranks, second, true, 2}, {IssueOrder::nd_rank_shift, 0})),
              ElementsAre("nd_rank_shift,0", "pairwise,0", "nd_rank_shift,4", "pairwise,4"));
}

TEST(OrderWindow, NothingIsTriedTwiceOnAnyPlacement) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    test::Random random(seed);
    const Placement placement = test::random_placement(random, 40);
    const std::vector<int> ranks = all_ranks(placement);
    const auto pairs = pairs_to_try(placement, {ranks, ranks, seed % 2 == 0, 2}, {});
    for (size_t i = 0; i < pairs.size(); ++i)
      for (size_t k = 0; k < i; ++k) EXPECT_NE(pairs[i], pairs[k]);
    EXPECT_LE(pairs.size(), 6u);
  }
}

}  // namespace
}  // namespace haichi::plan
