#include "numaio/trial.h"

#include <gtest/gtest.h>

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

TEST(Trial, AChangedMachineIsNoticed) {
  Trial trial;
  split_calls(trial, 100, 1.0, 1.5);
  split_calls(trial, 700, 1.0, 0.5);
  EXPECT_GE(split_calls(trial, 100, 1.0, 0.5), 95);
}

}  // namespace
}  // namespace haichi::numaio
