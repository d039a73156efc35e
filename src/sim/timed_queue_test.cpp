#include "sim/timed_queue.h"

#include <gtest/gtest.h>

namespace haichi::sim {
namespace {

TEST(TimedQueue, GivesTheEarliestAndOfThoseAtOneTimeTheFirst) {
  struct Thing {
    int time, name;
  };
  TimedQueue<Thing> queue;
  for (int name = 0; name < 100; ++name) queue.push({name % 3, name});
  EXPECT_EQ(queue.size(), 100u);
  EXPECT_EQ(queue.next().name, 0);
  for (int time = 0; time < 3; ++time)
    for (int name = time; name < 100; name += 3) ASSERT_EQ(queue.take().name, name);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace haichi::sim
