#include "sim/agenda.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/event_queue.h"
#include "support/random_placement.h"

namespace haichi::sim {
namespace {

/// Adds one of the actors, or takes it away: one time in `removals`.
void change(test::Random& random, uint32_t size, uint64_t removals, ActorSet& actors,
            std::set<uint32_t>& expected) {
  const auto actor = uint32_t(random.below(size));
  if (random.below(removals) == 0) {
    actors.remove(actor);
    expected.erase(actor);
  } else {
    actors.add(actor);
    expected.insert(actor);
  }
}

TEST(ActorSet, FindsTheLeast) {
  test::Random random(3);
  for (const uint32_t size : {1u, 64u, 65u, 4096u, 300000u}) {
    ActorSet actors(size);
    std::set<uint32_t> expected;
    for (int step = 0; step < 5000; ++step) {
      change(random, size, 2, actors, expected);
      ASSERT_EQ(actors.empty(), expected.empty());
      if (!expected.empty()) {
        ASSERT_EQ(actors.first(), *expected.begin());
      }
    }
  }
}

TEST(ActorSet, FindsWhoIsNearBehindAnother) {
  test::Random random(4);
  for (const uint32_t size : {1u, 64u, 65u, 130u, 4096u}) {
    ActorSet actors(size);
    std::set<uint32_t> expected;
    for (int step = 0; step < 2000; ++step) {
      change(random, size, 3, actors, expected);
      const auto from = uint32_t(random.below(size));
      const auto next = expected.upper_bound(from);
      const bool is_near = next != expected.end() && *next / 64 <= from / 64 + 1;
      ASSERT_EQ(actors.soon_behind(from), is_near ? *next : ActorSet::kNone);
    }
  }
}

// Events are set at the time that was looked at last or later, often at that very time, and taken
// away and set anew before they come.
TEST(Agenda, HasTheEventsOfAQueueInItsOrder) {
  test::Random random(11);
  for (const Time span : {Time(3), Time(1000), Time(1) << 40}) {
    constexpr uint32_t kActors = 200;
    Agenda agenda(kActors);
    EventQueue queue(kActors);
    Time now = 0;
    for (int step = 0; step < 50000; ++step) {
      const auto actor = uint32_t(random.below(kActors));
      if (random.below(4) == 0) {
        agenda.remove(actor);
        queue.remove(actor);
      } else {
        const Time time = now + (random.below(4) == 0 ? 0 : Time(random.below(span)));
        agenda.set(actor, time);
        queue.set(actor, time);
      }
      ASSERT_EQ(agenda.empty(), queue.empty());
      if (random.below(3) == 0 || queue.empty()) continue;
      ASSERT_EQ(agenda.time(), queue.time());
      ASSERT_EQ(agenda.actor(), queue.actor());
      now = queue.time();
      if (random.below(2) == 0) continue;  // it is not taken away
      const uint32_t first = queue.actor();
      agenda.remove(first);
      queue.remove(first);
    }
  }
}

}  // namespace
}  // namespace haichi::sim
