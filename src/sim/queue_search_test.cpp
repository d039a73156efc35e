#include "sim/queue_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/random_placement.h"

namespace haichi::sim {
namespace {

using Side = Matching::Side;

TEST(QueueSearch, LooksAtWhatIsBeforeTheOneThatItIsAfter) {
  QueueSearch search(4);
  EXPECT_EQ(search.offer(0, 1, Side::receive), 0);  // no message has come
  EXPECT_EQ(search.offer(0, 2, Side::receive), 0);
  EXPECT_EQ(search.offer(0, 3, Side::receive), 0);
  EXPECT_EQ(search.offer(0, 3, Side::message), 3);  // past those of 1 and 2
  EXPECT_EQ(search.offer(0, 2, Side::message), 2);
  EXPECT_EQ(search.offer(0, 3, Side::message), 1);  // in vain: it waits
  EXPECT_EQ(search.offer(0, 2, Side::receive), 1);  // in vain too
  EXPECT_EQ(search.offer(0, 3, Side::receive), 1);
  EXPECT_EQ(search.offer(1, 3, Side::message), 0);  // another rank's
}

// Against a plain list that is looked through.
TEST(QueueSearch, CountsAsAListThatIsLookedThrough) {
  test::Random random(7);
  QueueSearch search(1);
  std::vector<int> lists[2];
  for (int step = 0; step < 20000; ++step) {
    const int source = int(random.below(40));
    const auto side = random.below(2) == 0 ? Side::message : Side::receive;
    std::vector<int>& other = lists[side == Side::message ? 0 : 1];
    const auto at = std::find(other.begin(), other.end(), source);
    const bool found = at != other.end();
    ASSERT_EQ(search.offer(0, source, side), (at - other.begin()) + (found ? 1 : 0)) << step;
    if (found)
      other.erase(at);
    else
      lists[side == Side::message ? 1 : 0].push_back(source);
  }
}

}  // namespace
}  // namespace haichi::sim
