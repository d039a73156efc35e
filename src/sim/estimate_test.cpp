#include "sim/estimate.h"

#include <gtest/gtest.h>

#include <memory>

#include "sim/simulator.h"
#include "support/list_schedule.h"

namespace haichi::sim {
namespace {

using plan::Step;
using test::ListSchedule;

TEST(Estimate, CountsMessagesAndWhatWaitsAtATime) {
  std::vector<Step> ring, spread;
  for (int peer = 0; peer < 1000; ++peer) {
    const Step receive{.kind = Step::Kind::receive, .peer = peer, .to = {1, 0, 64}};
    const Step send{.kind = Step::Kind::send, .peer = peer, .from = {0, 0, 64}};
    ring.insert(ring.end(), {receive, send, {.kind = Step::Kind::wait}});
    spread.insert(spread.begin(), receive);
    spread.push_back(send);
  }
  const auto placement = placement::block(1000, 1);
  ListSchedule a(ring, 0), b(ring, 0), c(spread, 0);
  const Estimate small = estimate(placement, {}, {&a, &b}), large = estimate(placement, {}, {&c});
  EXPECT_EQ(small.messages, 1000 * 1000);
  EXPECT_EQ(large.messages, small.messages);
  EXPECT_GT(small.seconds, 0.1);
  EXPECT_GT(large.bytes, small.bytes + 3'000'000);  // a million receives wait
  EXPECT_LT(large.bytes, small.bytes + 10'000'000);
}

TEST(Estimate, OfWhatStaysBeforeASlowPort) {
  std::vector<Step> steps;
  for (int peer = 0; peer < 1000; ++peer)
    steps.push_back({.kind = Step::Kind::send, .peer = peer, .from = {0, 0, 10000}});
  const auto placement = placement::block(1000, 1);
  Machine slow;
  slow.out_gbs = 0.1;
  ListSchedule a(steps, 0), b(steps, 0);
  EXPECT_GT(estimate(placement, slow, {&a}).bytes, estimate(placement, {}, {&b}).bytes + 5'000'000);
}

}  // namespace
}  // namespace haichi::sim
