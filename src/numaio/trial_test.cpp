#include "numaio/trial.h"

#include <gtest/gtest.h>

#include <utility>

namespace haichi::numaio {
namespace {

// Calls that were split of the last `count`, when each way takes what it says.
int split_calls(Trial& trial, int count, double plain, double split) {
  int number = 0;
  for (int i = 0; i < count; ++i) {
    const bool chosen = trial.split();
    trial.note(chosen, chosen ? split : plain);
    number += chosen;
  }
  return number;
}

TEST(Trial, BeginsSplit) { EXPECT_TRUE(Trial().split()); }

TEST(Trial, TheFasterWayIsKept) {
  Trial gains, loses;
  split_calls(gains, 6, 1.0, 0.6);
  EXPECT_GE(split_calls(gains, 1000, 1.0, 0.6), 980);
  split_calls(loses, 6, 1.0, 1.2);
  EXPECT_LE(split_calls(loses, 1000, 1.0, 1.2), 20);
}

TEST(Trial, AGainOfNothingIsNoneAtAll) {
  Trial trial;
  split_calls(trial, 6, 1.0, 0.98);
  EXPECT_LE(split_calls(trial, 1000, 1.0, 0.98), 20);
}

/// Of calls that are so large that a part of each tells what plain ones take: how many were split,
/// and how many began with such a part.
std::pair<int, int> large_calls(Trial& trial, int count, double plain, double split) {
  int splits = 0, parts = 0;
  for (int i = 0; i < count; ++i) {
    if (trial.wants_plain_part()) {
      trial.note(false, plain);
      ++parts;
    }
    const bool chosen = trial.split();
    trial.note(chosen, chosen ? split : plain);
    splits += chosen;
  }
  return {splits, parts};
}

TEST(Trial, OfLargeCallsAPartIsTried) {
  Trial gains, loses;
  EXPECT_EQ(large_calls(gains, 3, 1.0, 0.5), std::pair(3, 3));
  const auto [kept, looks] = large_calls(gains, 1000, 1.0, 0.5);
  EXPECT_EQ(kept, 1000);
  EXPECT_GT(looks, 10);
  EXPECT_LT(looks, 20);
  EXPECT_EQ(large_calls(loses, 3, 1.0, 2.5), std::pair(3, 3));
  EXPECT_LE(large_calls(loses, 1000, 1.0, 2.5).first, 20);
}

TEST(Trial, AChangedMachineIsNoticed) {
  Trial trial;
  split_calls(trial, 100, 1.0, 1.5);
  split_calls(trial, 700, 1.0, 0.5);
  EXPECT_GE(split_calls(trial, 100, 1.0, 0.5), 95);
}

}  // namespace
}  // namespace haichi::numaio
