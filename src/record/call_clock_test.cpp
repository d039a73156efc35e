#include "record/call_clock.h"

#include <gtest/gtest.h>

namespace haichi::record {
namespace {

// A thread whose processor time the test sets.
int64_t cpu_ns = 0;
int reads = 0;
int64_t read_cpu() {
  ++reads;
  return cpu_ns;
}

class CallClockTest : public ::testing::Test {
 protected:
  CallClockTest() {
    cpu_ns = 1'000;
    reads = 0;
    clock.start(1'000'000, read_cpu);
    reads = 0;
  }
  CallClock clock = {};
};

TEST_F(CallClockTest, ShortGapsAreTakenAsTheyAre) {
  EXPECT_EQ(clock.computed(1'005'000, read_cpu), 5'000);
  clock.over(1'005'000, 1'006'000, read_cpu);
  EXPECT_EQ(clock.computed(1'007'000, read_cpu), 1'000);
  EXPECT_EQ(reads, 0) << "a system call for nothing";
}

TEST_F(CallClockTest, TimeWithoutTheProcessorIsNoComputing) {
  cpu_ns += 300'000;  // it ran for 0.3 of 1 ms
  EXPECT_EQ(clock.computed(2'000'000, read_cpu), 300'000);
}

TEST_F(CallClockTest, AThreadThatRanAllTheTimeHasComputed) {
  cpu_ns += 1'000'000;
  EXPECT_EQ(clock.computed(2'000'000, read_cpu), 1'000'000);
}

TEST_F(CallClockTest, WaitingInALongCallIsNotTakenFromTheNextGap) {
  EXPECT_EQ(clock.computed(1'001'000, read_cpu), 1'000);
  cpu_ns += 2'000;                             // the call slept
  clock.over(1'001'000, 9'001'000, read_cpu);  // 8 ms
  cpu_ns += 500'000;                           // then it computed for half a millisecond
  EXPECT_EQ(clock.computed(9'501'000, read_cpu), 500'000);
}

TEST_F(CallClockTest, IsNeverNegative) {
  cpu_ns = 0;  // clocks of kernels differ a little
  EXPECT_EQ(clock.computed(1'030'000, read_cpu), 0);
}

TEST(CallClock, BeginsWithTheFirstCallOfAThread) {
  CallClock clock = {};
  EXPECT_EQ(clock.computed(5'000'000'000, read_cpu), 0);
}

}  // namespace
}  // namespace haichi::record
