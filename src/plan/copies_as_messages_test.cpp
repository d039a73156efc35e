#include "plan/copies_as_messages.h"

#include <gtest/gtest.h>

#include "support/list_schedule.h"

namespace haichi::plan {
namespace {

TEST(CopiesAsMessages, ReceivesFromItselfAndThenSends) {
  test::ListSchedule whole({copy_step(7, {1, 2, 3}, {4, 5, 3}), wait_step()}, 6);
  CopiesAsMessages messages(whole, 7);
  EXPECT_EQ(messages.max_outstanding(), 6);
  Step step;
  ASSERT_TRUE(messages.next(step));
  EXPECT_EQ(step.kind, Step::Kind::receive);
  EXPECT_EQ(step.peer, 7);
  EXPECT_EQ(step.to.buffer, 4);
  EXPECT_EQ(step.to.begin, 5);
  EXPECT_EQ(step.to.size, 3);
  ASSERT_TRUE(messages.next(step));
  EXPECT_EQ(step.kind, Step::Kind::send);
  EXPECT_EQ(step.peer, 7);
  EXPECT_EQ(step.from.buffer, 1);
  EXPECT_EQ(step.from.begin, 2);
  EXPECT_EQ(step.from.size, 3);
  ASSERT_TRUE(messages.next(step));
  EXPECT_EQ(step.kind, Step::Kind::wait);
  EXPECT_FALSE(messages.next(step));
}

TEST(CopiesAsMessages, LeavesMessagesAlone) {
  test::ListSchedule whole({receive_step(1, {2, 0, 8}), send_step(3, {1, 0, 9})}, 0);
  CopiesAsMessages messages(whole, 7);
  Step step;
  ASSERT_TRUE(messages.next(step));
  EXPECT_EQ(step.kind, Step::Kind::receive);
  EXPECT_EQ(step.peer, 1);
  ASSERT_TRUE(messages.next(step));
  EXPECT_EQ(step.kind, Step::Kind::send);
  EXPECT_EQ(step.from.size, 9);
  EXPECT_FALSE(messages.next(step));
}

}  // namespace
}  // namespace haichi::plan
