#include "sim/look_ahead.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace haichi::sim {
namespace {

// Each actor that acts at the time is fetched once for each step, before its turn; so is nobody
// else.
TEST(LookAhead, FetchesWhatActsSoon) {
  constexpr uint32_t kRanks = 100;
  Clockwork clock(kRanks, 2);
  for (uint32_t rank = 0; rank < kRanks; ++rank) clock.set(rank, Time(rank % 2 + 1));
  LookAhead look_ahead;
  std::map<uint32_t, std::vector<size_t>> fetched;
  std::set<uint32_t> acted;
  while (!clock.over()) {
    const uint32_t actor = clock.next();
    acted.insert(actor);
    look_ahead.turn(clock, actor, [&](uint32_t other, size_t step) {
      EXPECT_FALSE(acted.contains(other));
      EXPECT_EQ(other % 2, actor % 2) << "it acts at another time";
      fetched[other].push_back(step);
    });
    clock.remove(actor);
  }
  for (uint32_t rank = 10; rank < kRanks; ++rank)
    EXPECT_EQ(fetched[rank], (std::vector<size_t>{0, 1, 2})) << rank;
}

}  // namespace
}  // namespace haichi::sim
