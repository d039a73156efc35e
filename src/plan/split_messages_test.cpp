#include "plan/split_messages.h"

#include <gmock/gmock.h>

#include "support/list_schedule.h"

namespace haichi::plan {
namespace {

using test::ListSchedule;
using testing::ElementsAre;

std::vector<std::string> cut(std::vector<Step> steps, int64_t limit) {
  ListSchedule whole(std::move(steps), 3);
  SplitMessages split(whole, limit);
  EXPECT_EQ(split.max_outstanding(), 3);
  std::vector<std::string> texts;
  for (Step step; split.next(step);) {
    const bool sends = step.kind == Step::Kind::send;
    const Slice& slice = sends ? step.from : step.to;
    texts.push_back((sends                              ? "send "
                     : step.kind == Step::Kind::receive ? "receive "
                                                        : "other ") +
                    std::to_string(step.peer) + ": " + std::to_string(slice.begin) + "+" +
                    std::to_string(slice.size));
  }
  return texts;
}

TEST(SplitMessages, CutsWhatIsLarger) {
  EXPECT_THAT(cut({send_step(4, {1, 100, 25}), receive_step(5, {2, 7, 10})}, 10),
              ElementsAre("send 4: 100+10", "send 4: 110+10", "send 4: 120+5", "receive 5: 7+10"));
}

TEST(SplitMessages, LeavesEmptyMessagesAndOtherStepsAlone) {
  EXPECT_THAT(
      cut({receive_step(1, {0, 3, 0}), wait_step(), copy_step(0, {0, 0, 99}, {1, 0, 99})}, 10),
      ElementsAre("receive 1: 3+0", "other -1: 0+0", "other 0: 0+99"));
}

}  // namespace
}  // namespace haichi::plan
