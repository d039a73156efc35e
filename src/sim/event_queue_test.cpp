#include "sim/event_queue.h"

#include <gtest/gtest.h>

#include <map>

#include "support/random_placement.h"

namespace haichi::sim {
namespace {

TEST(EventQueue, OfEqualTimesTheLowerActorIsFirst) {
  EventQueue queue(3);
  queue.set(2, 5);
  queue.set(0, 5);
  queue.set(1, 5);
  for (uint32_t actor = 0; actor < 3; ++actor) {
    EXPECT_EQ(queue.actor(), actor);
    queue.remove(queue.actor());
  }
  EXPECT_TRUE(queue.empty());
  queue.remove(1);  // nothing to take away
}

TEST(EventQueue, IsAsGoodAsSearchingForTheLeast) {
  test::Random random(7);
  constexpr uint32_t kActors = 40;
  EventQueue queue(kActors);
  std::map<uint32_t, Time> events;
  for (int step = 0; step < 20000; ++step) {
    const auto actor = uint32_t(random.below(kActors));
    if (random.below(3) == 0) {
      queue.remove(actor);
      events.erase(actor);
    } else {
      const Time time = random.below(100);
      queue.set(actor, time);
      events[actor] = time;
    }
    if (random.below(3) == 0) continue;  // what was taken away is not looked for at once
    ASSERT_EQ(queue.empty(), events.empty());
    if (events.empty()) continue;
    auto least = events.begin();
    for (auto each = events.begin(); each != events.end(); ++each)
      if (each->second < least->second) least = each;
    ASSERT_EQ(queue.time(), least->second);
    ASSERT_EQ(queue.actor(), least->first);
  }
}

}  // namespace
}  // namespace haichi::sim
