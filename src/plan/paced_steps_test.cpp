#include "plan/paced_steps.h"

#include <gmock/gmock.h>

#include "support/list_schedule.h"

namespace haichi::plan {
namespace {

using test::ListSchedule;
using testing::ElementsAre;

constexpr Pace kPace{.large = 10, .most_packed = 100};

std::string text(const Step& step) {
  switch (step.kind) {
    case Step::Kind::send:
      return "send " + std::to_string(step.peer);
    case Step::Kind::receive:
      return "receive " + std::to_string(step.peer);
    case Step::Kind::wait:
      return "wait";
    default:
      return "other";
  }
}

Step receive(int peer, int64_t size, int64_t round = 0) {
  Step step = receive_step(peer, {0, 0, size});
  step.round = round;
  return step;
}

Step send(int peer, int64_t round = 0) {
  Step step = send_step(peer, {0, 0, 1});
  step.round = round;
  return step;
}

std::vector<std::string> paced(std::vector<Step> steps) {
  ListSchedule whole(std::move(steps), 0);
  PacedSteps paced(whole, kPace);
  std::vector<std::string> texts;
  for (Step step; paced.next(step);) texts.push_back(text(step));
  return texts;
}

TEST(PacedSteps, PutsLargeReceivesBehindSends) {
  EXPECT_THAT(paced({receive(1, 10), send(2), send(3), wait_step()}),
              ElementsAre("send 2", "send 3", "receive 1", "wait"));
}

TEST(PacedSteps, LeavesSmallReceivesWhereTheyAre) {
  EXPECT_THAT(paced({receive(1, 9), send(2), wait_step()}),
              ElementsAre("receive 1", "send 2", "wait"));
}

TEST(PacedSteps, KeepsReceivesInTheirOrder) {
  EXPECT_THAT(paced({receive(1, 1), receive(1, 10), receive(1, 1), send(2), wait_step()}),
              ElementsAre("receive 1", "send 2", "receive 1", "receive 1", "wait"));
}

TEST(PacedSteps, HoldsNothingBackBeyondItsRound) {
  EXPECT_THAT(paced({receive(1, 10), send(2), send(3, 1), receive(4, 10, 1), send(5, 1)}),
              ElementsAre("send 2", "receive 1", "send 3", "send 5", "receive 4"));
  EXPECT_THAT(paced({receive(1, 10), receive(2, 10, 1), send(3, 1)}),
              ElementsAre("receive 1", "send 3", "receive 2"));
}

TEST(PacedSteps, HoldsNothingBackBehindWhatIsNoMessage) {
  EXPECT_THAT(paced({receive(1, 10), copy_step(0, {0, 0, 1}, {1, 0, 1}), send(2)}),
              ElementsAre("receive 1", "other", "send 2"));
}

TEST(PacedSteps, GivesWhatStandsBackAtTheEnd) {
  EXPECT_THAT(paced({receive(1, 10), receive(2, 10)}), ElementsAre("receive 1", "receive 2"));
  EXPECT_THAT(paced({}), ElementsAre());
}

TEST(PacedSteps, ASendThatWaitsComesBehindReceives) {
  ListSchedule whole({receive(1, 10), receive(2, 10), send(3), send(4), wait_step()}, 1);
  PacedSteps paced(whole, kPace);
  std::vector<std::string> texts;
  for (Step step; paced.next(step);) {
    if (step.kind != Step::Kind::send) {
      texts.push_back(text(step));
      continue;
    }
    if (!paced.may_send(0)) {
      if (paced.put_off(step)) continue;
      texts.emplace_back("waits");
      paced.send_done(0);
    }
    paced.sent(0);
    texts.push_back(text(step));
  }
  EXPECT_THAT(texts, ElementsAre("send 3", "receive 1", "receive 2", "waits", "send 4", "wait"));
}

TEST(PacedSteps, BoundsWhatIsPackedButNotASingleMessage) {
  ListSchedule whole({}, 0);
  PacedSteps paced(whole, kPace);
  EXPECT_TRUE(paced.may_send(1000));
  paced.sent(60);
  EXPECT_TRUE(paced.may_send(40));
  EXPECT_FALSE(paced.may_send(41));
  EXPECT_TRUE(paced.may_send(0)) << "what is not packed takes no memory";
  paced.send_done(60);
  EXPECT_TRUE(paced.may_send(1000));
}

}  // namespace
}  // namespace haichi::plan
