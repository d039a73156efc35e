#include "sim/matching.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "support/random_placement.h"

namespace haichi::sim {
namespace {

using Side = Matching::Side;

TEST(Matching, TheOldestOfAPairIsTakenFirst) {
  Matching matching(4);
  EXPECT_FALSE(matching.offer(0, 3, Side::message, {10, 1}));
  EXPECT_FALSE(matching.offer(0, 3, Side::message, {20, 2}));
  EXPECT_FALSE(matching.offer(0, 2, Side::receive, {30, 3}));
  const auto left = matching.first_waiting();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->target, 0);
  const auto first = matching.offer(0, 3, Side::receive, {10, 9});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->value, 1);
  EXPECT_EQ(matching.offer(0, 3, Side::receive, {20, 9})->bytes, 20);
  EXPECT_FALSE(matching.offer(0, 3, Side::receive, {20, 9}));
  EXPECT_EQ(matching.waiting(), 2);
}

// Against one queue per pair in a map, over tables that grow and pairs that come and go.
TEST(Matching, IsAsGoodAsAQueueForEachPair) {
  test::Random random(3);
  constexpr int kRanks = 70;  // no power of two
  Matching matching(kRanks);
  std::map<std::pair<int, int>, std::pair<Side, std::deque<int>>> pairs;
  for (int step = 0; step < 60000; ++step) {
    const int target = int(random.below(3)), source = int(random.below(kRanks));
    const Side side = random.below(2) == 0 ? Side::message : Side::receive;
    const auto found = matching.offer(target, source, side, {step, step});
    auto& [waiting, queue] = pairs[{target, source}];
    if (!queue.empty() && waiting != side) {
      ASSERT_TRUE(found);
      ASSERT_EQ(found->value, queue.front());
      ASSERT_EQ(found->bytes, queue.front());
      queue.pop_front();
    } else {
      ASSERT_FALSE(found);
      waiting = side;
      queue.push_back(step);
    }
  }
}

// One item or several of a pair, of few kinds or of more than are kept, in any order.
TEST(Matching, ManyKindsOfItemsAreAsGoodAsFew) {
  Matching matching(300);
  for (const int count : {1, 2, 3})
    for (int i = 0; i < 70000; ++i)
      ASSERT_FALSE(matching.offer(i % 300, i / 300, Side::receive, {i, count}));
  for (const int count : {1, 2, 3})
    for (int i = 0; i < 70000; ++i) {
      const auto found = matching.offer(i % 300, i / 300, Side::message, {i, -1});
      ASSERT_TRUE(found);
      ASSERT_EQ(found->bytes, i);
      ASSERT_EQ(found->value, count);
    }
  EXPECT_EQ(matching.waiting(), 0);
  EXPECT_FALSE(matching.first_waiting());
}

// Tables stay small where few pairs wait at a time: each removal closes up what it leaves.
TEST(Matching, PairsOfWhichNothingWaitsAreForgotten) {
  test::Random random(5);
  constexpr int kRanks = 1 << 20;
  Matching matching(kRanks);
  std::deque<int> waiting;
  for (int step = 0; step < 20000; ++step) {
    if (waiting.size() < 12) {
      waiting.push_back(int(random.below(kRanks)));
      if (!matching.offer(7, waiting.back(), Side::receive, {step, step})) continue;
    }
    const size_t at = size_t(random.below(waiting.size()));
    const auto found = matching.offer(7, waiting[at], Side::message, {0, 0});
    ASSERT_TRUE(found) << step;
    waiting.erase(waiting.begin() + int64_t(at));
    ASSERT_EQ(matching.waiting(), int64_t(waiting.size()));
  }
}

}  // namespace
}  // namespace haichi::sim
