#include <gtest/gtest.h>

#include <map>

#include "patterns/pattern.h"
#include "sim/simulator.h"

namespace haichi::patterns {
namespace {

// Bytes by sender and receiver.
using Traffic = std::map<std::pair<int, int>, int64_t>;

struct Received : sim::Observer {
  void received(const sim::MessageRecord& message) override {
    traffic[{message.from, message.to}] += message.bytes;
  }
  Traffic traffic;
};

Traffic run(Result<Job> (*pattern)(const Case&), int ranks, int distance) {
  const auto placement = placement::block(ranks, 1);
  auto job = pattern({placement, {}, {.bytes = 10, .distance = distance}});
  std::vector<plan::Schedule*> schedules;
  for (const auto& each : job->schedules) schedules.push_back(each.get());
  Received seen;
  const auto outcome = sim::simulate(placement, {}, schedules, {.observer = &seen});
  EXPECT_TRUE(outcome) << outcome.error().text;
  return seen.traffic;
}

TEST(Shift, GoesRoundTheRing) {
  EXPECT_EQ(run(shift, 3, 1), (Traffic{{{0, 1}, 10}, {{1, 2}, 10}, {{2, 0}, 10}}));
  EXPECT_EQ(run(shift, 3, 5), (Traffic{{{0, 2}, 10}, {{1, 0}, 10}, {{2, 1}, 10}}));
  EXPECT_EQ(run(shift, 2, 0), (Traffic{{{0, 0}, 10}, {{1, 1}, 10}}));
}

TEST(Exchange, GoesBothWays) {
  EXPECT_EQ(run(exchange, 4, 1), (Traffic{{{0, 1}, 10},
                                          {{1, 2}, 10},
                                          {{2, 3}, 10},
                                          {{3, 0}, 10},
                                          {{1, 0}, 10},
                                          {{2, 1}, 10},
                                          {{3, 2}, 10},
                                          {{0, 3}, 10}}));
  EXPECT_EQ(run(exchange, 2, 1), (Traffic{{{0, 1}, 20}, {{1, 0}, 20}}));
}

}  // namespace
}  // namespace haichi::patterns
