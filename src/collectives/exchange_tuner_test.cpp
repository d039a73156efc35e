#include "collectives/exchange_tuner.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace haichi::collectives {
namespace {

using plan::IssueOrder;
using plan::OrderWindow;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;
const std::vector<OrderWindow> kPairs = {
    {IssueOrder::nd_rank_shift, 32}, {IssueOrder::pairwise, 32}, {IssueOrder::nd_rank_shift, 4}};
const ExchangeKey kWrite = {true, 20, 14, 4, false};

// The pair that accesses take next, told that they took what `seconds` says of it.
std::vector<std::string> run(ExchangeTuner& tuner, const ExchangeKey& key, int accesses,
                             const std::function<double(const OrderWindow&)>& seconds,
                             int64_t bytes = kMiB) {
  if (tuner.find(key) == nullptr) tuner.begin(key, kPairs);
  std::vector<std::string> taken;
  for (int i = 0; i < accesses; ++i) {
    const OrderWindow pair = tuner.find(key)->next();
    taken.push_back(pair.text());
    tuner.took(key, seconds(pair), bytes);
  }
  return taken;
}

double faster_by_four(const OrderWindow& pair) { return pair.window == 4 ? 0.2 : 0.3; }

TEST(ExchangeTuner, TheFirstAccessMakesConnectionsAndDoesNotCount) {
  ExchangeTuner tuner({.rounds = 2, .budget = HUGE_VAL});
  EXPECT_THAT(
      run(tuner, kWrite, 4, faster_by_four),
      ElementsAre("nd_rank_shift,32", "nd_rank_shift,32", "pairwise,32", "nd_rank_shift,4"));
  EXPECT_EQ(tuner.find(kWrite)->selection.calls(), 3);
}

TEST(ExchangeTuner, LocksTheFastestPairAndSaysWhy) {
  ExchangeTuner tuner({.rounds = 2, .budget = HUGE_VAL});
  tuner.begin(kWrite, kPairs);
  EXPECT_THAT(tuner.why_next(kWrite), HasSubstr("before trials"));
  run(tuner, kWrite, 2, faster_by_four);
  EXPECT_EQ(tuner.why_next(kWrite), "trial 2, 3 pairs");
  run(tuner, kWrite, 10, faster_by_four);
  EXPECT_EQ(tuner.find(kWrite)->next(), kPairs[2]);
  EXPECT_EQ(tuner.why_next(kWrite), "chosen by trial, 200 ms against 300 ms of nd_rank_shift,32");
}

TEST(ExchangeTuner, WhatIsAsSetStaysWhereNothingIsFaster) {
  ExchangeTuner tuner({.rounds = 2, .budget = HUGE_VAL});
  run(tuner, kWrite, 20, [](const OrderWindow& pair) { return pair.window == 4 ? 0.297 : 0.3; });
  EXPECT_EQ(tuner.find(kWrite)->next(), kPairs[0]);
  EXPECT_EQ(tuner.why_next(kWrite), "chosen by trial, 300 ms");
}

TEST(ExchangeTuner, AccessesOfOneKeyCompareByTheirBytes) {
  ExchangeTuner tuner({.rounds = 1, .budget = HUGE_VAL});
  run(tuner, kWrite, 1, faster_by_four);
  // The first pair has the small accesses; at one rate they are all alike.
  for (const int64_t bytes : {kMiB, 3 * kMiB / 2, 15 * kMiB / 8})
    run(tuner, kWrite, 1, [&](const OrderWindow&) { return double(bytes) * 1e-7; }, bytes);
  for (const Selection::Trials& trials : tuner.find(kWrite)->selection.trials())
    EXPECT_THAT(trials.seconds, Each(testing::DoubleNear(double(kMiB) * 1e-7, 1e-12)));
}

TEST(ExchangeTuner, KeysAreTriedByThemselves) {
  ExchangeTuner tuner({.rounds = 2, .budget = HUGE_VAL});
  ExchangeKey read = kWrite;
  read.writing = false;
  run(tuner, kWrite, 20, faster_by_four);
  EXPECT_EQ(run(tuner, read, 2, faster_by_four).back(), "nd_rank_shift,32");
  EXPECT_EQ(tuner.decided().size(), 1u);
}

TEST(ExchangeTuner, ASecondRunStartsWithTheDecisionsOfTheFirst) {
  ExchangeTuner first({.rounds = 2, .budget = HUGE_VAL}), second({.rounds = 2, .budget = HUGE_VAL});
  run(first, kWrite, 20, faster_by_four);
  const std::vector<Decision> decisions = first.decided();
  ASSERT_EQ(decisions.size(), 1u);
  EXPECT_EQ(decisions[0].collective, "two-phase write, 4 aggregators, messages from 16384 bytes");
  EXPECT_EQ(decisions[0].size_bin, 20);
  second.start_with(decisions);
  EXPECT_THAT(run(second, kWrite, 10, faster_by_four), Each("nd_rank_shift,4"));
  EXPECT_EQ(second.why_next(kWrite), "decided in an earlier run");
  ExchangeKey larger = kWrite;
  ++larger.size_bin;
  EXPECT_EQ(run(second, larger, 1, faster_by_four).back(), "nd_rank_shift,32");
}

TEST(ExchangeTuner, ADecisionForAPairThatIsNotTriedIsNone) {
  ExchangeTuner tuner({.rounds = 2, .budget = HUGE_VAL});
  tuner.start_with({{kWrite.text(), 20, "rank,7", 0.1}});
  EXPECT_EQ(run(tuner, kWrite, 2, faster_by_four).back(), "nd_rank_shift,32");
  EXPECT_EQ(tuner.find(kWrite)->why, "by trial");
}

// What the ranks compare before an access: whoever was told the same chooses alike.
TEST(ExchangeTuner, WhatItWasToldIsSeenFromOutside) {
  ExchangeTuner a({}), b({}), decided({});
  EXPECT_NE(a.told(), 0u);
  EXPECT_EQ(a.told(), b.told());
  run(a, kWrite, 1, faster_by_four);
  EXPECT_NE(a.told(), b.told());
  run(b, kWrite, 1, faster_by_four);
  EXPECT_EQ(a.told(), b.told());
  run(b, kWrite, 1, [](const OrderWindow&) { return 0.4; });
  run(a, kWrite, 1, [](const OrderWindow&) { return 0.5; });
  EXPECT_NE(a.told(), b.told());
  decided.start_with({{"x", 20, "rank,7", 0.1}});
  EXPECT_NE(decided.told(), ExchangeTuner({}).told());
}

}  // namespace
}  // namespace haichi::collectives
