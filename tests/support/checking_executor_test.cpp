#include "support/checking_executor.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <vector>

#include "support/list_schedule.h"
#include "support/memory_buffers.h"

namespace haichi::test {
namespace {

using plan::Schedule;
using plan::Slice;
using plan::Step;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// All ranks of one job.
struct Job {
  std::vector<std::unique_ptr<Schedule>> schedules;
  std::vector<MemoryBuffers> buffers;
  CheckTally tally;

  Status run(const CheckOptions& options) {
    std::vector<Schedule*> steps;
    std::vector<plan::Buffers*> bytes;
    for (auto& each : schedules) steps.push_back(each.get());
    for (auto& each : buffers) bytes.push_back(&each);
    return run_checked(steps, bytes, options, &tally);
  }
};

// One buffer of `size` bytes per rank, byte i of rank r being 16 r + i; rank r does lists[r].
Job list_job(const std::vector<std::vector<Step>>& lists, int window, size_t size = 16) {
  Job job;
  for (size_t r = 0; r < lists.size(); ++r) {
    job.schedules.push_back(std::make_unique<ListSchedule>(lists[r], window));
    MemoryBuffers& mine = job.buffers.emplace_back();
    mine.memory.emplace_back();
    for (size_t i = 0; i < size; ++i) mine.memory[0].push_back(std::byte(16 * r + i));
  }
  return job;
}

Error error_of(const std::vector<std::vector<Step>>& lists, Completion completion, int window = 0) {
  const Status done = list_job(lists, window).run({.seed = 1, .completion = completion});
  return done ? Error{0, "no error"} : done.error();
}

constexpr Slice kLow{0, 0, 4}, kHigh{0, 8, 4};

TEST(CheckingExecutor, MovesTheBytes) {
  for (const Completion completion : kCompletions)
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Job job = list_job({{receive_step(1, kHigh), send_step(1, kLow), wait_step()},
                          {send_step(0, kLow), receive_step(0, kHigh), wait_step()}},
                         1);
      ASSERT_TRUE(job.run({seed, completion}));
      EXPECT_EQ(job.buffers[0].memory[0][9], std::byte{17});
      EXPECT_EQ(job.buffers[1].memory[0][8], std::byte{0});
      EXPECT_EQ(job.tally.messages, 2);
      EXPECT_EQ(job.tally.bytes, 8);
      EXPECT_EQ(job.tally.steps, 6);
    }
}

TEST(CheckingExecutor, CopiesAndMessagesToItself) {
  for (const Completion completion : kCompletions) {
    Job job =
        list_job({{copy_step(kLow, {0, 4, 4}), send_step(0, kLow), receive_step(0, kHigh)}}, 1);
    ASSERT_TRUE(job.run({3, completion}));
    EXPECT_THAT(job.buffers[0].memory[0],
                ElementsAre(std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0},
                            std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0}, std::byte{1},
                            std::byte{2}, std::byte{3}, std::byte{12}, std::byte{13}, std::byte{14},
                            std::byte{15}));
  }
}

TEST(CheckingExecutor, MessagesOfOnePairStayInOrder) {
  for (const Completion completion : kCompletions)
    for (uint64_t seed = 0; seed < 50; ++seed) {
      Job job = list_job(
          {{send_step(1, {0, 0, 2}), send_step(1, {0, 2, 2}), send_step(1, {0, 4, 2})},
           {receive_step(0, {0, 4, 2}), receive_step(0, {0, 2, 2}), receive_step(0, {0, 0, 2})}},
          2);
      ASSERT_TRUE(job.run({seed, completion}));
      EXPECT_EQ(job.buffers[1].memory[0][0], std::byte{4});
      EXPECT_EQ(job.buffers[1].memory[0][4], std::byte{0});
    }
}

// Two ranks send to the same bytes of a third: by the rules the receive issued last wins.
TEST(CheckingExecutor, OverlappingReceivesFollowTheOrderOfIssueUnlessOrderFree) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Job job = list_job({{receive_step(1, kLow), receive_step(2, kLow), wait_step()},
                        {send_step(0, kLow)},
                        {send_step(0, kLow)}},
                       0);
    job.buffers[0].ordered = true;
    ASSERT_TRUE(job.run({seed, Completion::either}));
    EXPECT_EQ(job.buffers[0].memory[0][0], std::byte{32});
  }
  std::vector<int> winners(64);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Job job = list_job({{receive_step(1, kLow), receive_step(2, kLow), wait_step()},
                        {send_step(0, kLow)},
                        {send_step(0, kLow)}},
                       0);
    job.buffers[0].scattered = true;
    ASSERT_TRUE(job.run({seed, Completion::either}));
    ++winners[size_t(job.buffers[0].memory[0][0])];
  }
  EXPECT_GT(winners[16], 0);  // an order dependence shows under some seed
  EXPECT_GT(winners[32], 0);
}

// Three messages of one sender, each sharing a byte with the next: the reverse order is drawn too.
TEST(CheckingExecutor, OrderFreeBytesTurnUpInAnyOrder) {
  int reversed = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Job job =
        list_job({{receive_step(1, {0, 0, 2}), receive_step(1, {0, 1, 2}),
                   receive_step(1, {0, 2, 2}), wait_step()},
                  {send_step(0, {0, 0, 2}), send_step(0, {0, 4, 2}), send_step(0, {0, 8, 2})}},
                 0);
    job.buffers[0].scattered = true;
    ASSERT_TRUE(job.run({seed, Completion::eager}));
    const auto& seen = job.buffers[0].memory[0];
    reversed += seen[1] == std::byte{17} && seen[2] == std::byte{21};
  }
  EXPECT_GT(reversed, 0);
  EXPECT_LT(reversed, 200);
}

TEST(CheckingExecutor, ReadingBeforeWaitAllShows) {
  int wrong = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Job job = list_job(
        {{receive_step(1, kLow), copy_step(kLow, kHigh), wait_step()}, {send_step(0, kLow)}}, 0);
    ASSERT_TRUE(job.run({seed, Completion::eager}));
    const std::byte seen = job.buffers[0].memory[0][8];
    EXPECT_NE(seen, std::byte{0}) << "what was there before must not survive";
    wrong += seen != std::byte{16};
  }
  EXPECT_GT(wrong, 0);
}

TEST(CheckingExecutor, ChangingBytesThatAreBeingSentShows) {
  const std::vector<std::vector<Step>> lists = {
      {send_step(1, kLow), copy_step(kHigh, kLow), wait_step()}, {receive_step(0, kLow)}};
  int wrong = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Job job = list_job(lists, 0);
    ASSERT_TRUE(job.run({seed, Completion::rendezvous}));
    wrong += job.buffers[1].memory[0][0] != std::byte{0};
  }
  EXPECT_GT(wrong, 0);
}

TEST(CheckingExecutor, TheSameSeedIsTheSameRun) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    std::byte winner[2];
    for (std::byte& each : winner) {
      Job job = list_job({{receive_step(1, kLow), receive_step(2, kLow)},
                          {send_step(0, kLow)},
                          {send_step(0, kLow)}},
                         0);
      job.buffers[0].scattered = true;
      ASSERT_TRUE(job.run({seed, Completion::either}));
      each = job.buffers[0].memory[0][0];
    }
    EXPECT_EQ(winner[0], winner[1]);
  }
}

TEST(CheckingExecutor, FindsADeadlockAndNamesRanksAndSteps) {
  const std::vector<Step> to_right = {send_step(1, kLow), wait_step(), receive_step(1, kHigh)};
  const std::vector<Step> to_left = {send_step(0, kLow), wait_step(), receive_step(0, kHigh)};
  const Error error = error_of({to_right, to_left}, Completion::rendezvous);
  EXPECT_EQ(error.code, EDEADLK);
  EXPECT_EQ(error.text,
            "deadlock of 2 of 2 ranks: rank 0 at step 1 waits for 1 sends, one to 1 (step 0); rank "
            "1 at step 1 waits for 1 sends, one to 0 (step 0)");
  // A library that sends eagerly hides it.
  EXPECT_EQ(error_of({to_right, to_left}, Completion::eager).text, "no error");
}

TEST(CheckingExecutor, FindsADeadlockOfTheWindow) {
  // Both fill their window before they post a receive.
  const auto steps = [](int peer) {
    return std::vector<Step>{send_step(peer, kLow), send_step(peer, kLow),
                             receive_step(peer, {0, 8, 4}), receive_step(peer, {0, 12, 4})};
  };
  EXPECT_EQ(error_of({steps(1), steps(0)}, Completion::rendezvous, 2).text, "no error");
  const Error error = error_of({steps(1), steps(0)}, Completion::rendezvous, 1);
  EXPECT_EQ(error.code, EDEADLK);
  EXPECT_THAT(error.text, HasSubstr("rank 1 at step 1 waits to send to 0 with 1 sends"));
}

TEST(CheckingExecutor, NamesAReceiveThatNobodySendsTo) {
  const Error error = error_of({{receive_step(1, kLow)}, {}}, Completion::eager);
  EXPECT_EQ(error.code, EDEADLK);
  EXPECT_EQ(error.text,
            "deadlock of 1 of 2 ranks: rank 0 at its end waits for 1 receives, the first from 1 "
            "(step 0)");
}

TEST(CheckingExecutor, NamesTheFirstOfManyRanks) {
  std::vector<std::vector<Step>> ring;
  for (int r = 0; r < 20; ++r) ring.push_back({receive_step((r + 1) % 20, kLow)});
  EXPECT_THAT(error_of(ring, Completion::eager).text, HasSubstr("(step 0); and 12 more"));
}

TEST(CheckingExecutor, FindsMessagesThatNobodyReceived) {
  const Error error = error_of({{send_step(1, kLow), send_step(1, kLow)}, {receive_step(0, kLow)}},
                               Completion::eager);
  EXPECT_EQ(error.code, EPROTO);
  EXPECT_THAT(error.text, HasSubstr("rank 1 never received what rank 0 sent at step 1"));
}

TEST(CheckingExecutor, FindsSizesThatDiffer) {
  for (const Completion completion : kCompletions) {
    const Error error =
        error_of({{round_step(0), send_step(1, kLow)}, {receive_step(0, {0, 0, 5})}}, completion);
    EXPECT_EQ(error.code, EMSGSIZE);
    EXPECT_EQ(error.text, "rank 0 sends 4 bytes at step 1, but rank 1 receives 5 at step 0");
  }
  EXPECT_EQ(error_of({{copy_step(kLow, {0, 8, 3})}}, Completion::eager).code, EMSGSIZE);
}

TEST(CheckingExecutor, FindsPeersOutOfRange) {
  for (const int peer : {-1, 2}) {
    EXPECT_EQ(error_of({{send_step(peer, kLow)}, {}}, Completion::eager).code, EINVAL);
    EXPECT_EQ(error_of({{}, {receive_step(peer, kLow)}}, Completion::eager).text,
              fmt::format("rank 1 names peer {} of 2 ranks at step 0", peer));
  }
}

TEST(CheckingExecutor, FindsNegativeSizesAndOverlaps) {
  EXPECT_THAT(error_of({{copy_step({0, 4, -4}, {0, 0, -4})}}, Completion::eager).text,
              HasSubstr("rank 0 moves -4 bytes at step 0"));
  EXPECT_THAT(error_of({{copy_step({0, 0, 4}, {0, 3, 4})}}, Completion::eager).text,
              HasSubstr("rank 0 copies between overlapping bytes at step 0"));
  EXPECT_THAT(
      error_of({{receive_step(0, {0, 0, 4}), receive_step(0, {0, 3, 4})}}, Completion::eager).text,
      HasSubstr("rank 0 receives at step 1 into bytes that another receive may be writing"));
}

TEST(CheckingExecutor, FindsARoundThatBeginsTooEarly) {
  const Error error =
      error_of({{receive_step(0, kLow), send_step(0, kHigh), round_step(1), round_step(2)}},
               Completion::eager);
  EXPECT_EQ(error.code, EPROTO);
  EXPECT_THAT(error.text, HasSubstr("rank 0 begins round 2 at step 3"));
}

TEST(CheckingExecutor, LetsMessagesOfOneRoundReachIntoTheNext) {
  Job job = list_job({{send_step(0, kHigh), receive_step(0, kLow), round_step(1), wait_step(),
                       round_step(2), send_step(0, kHigh), receive_step(0, kLow)}},
                     0);
  EXPECT_TRUE(job.run({.completion = Completion::eager}));
}

TEST(CheckingExecutor, RanksOfANodeMeetAndOthersGoOn) {
  Job job = list_job({{receive_step(2, kLow), wait_step(), node_meet_step(), node_meet_step()},
                      {node_meet_step(), node_meet_step()},
                      {send_step(0, kLow)}},
                     0);
  EXPECT_TRUE(job.run({.nodes = {0, 0, 1}}));
}

// Were arriving and waiting one step, rank 1 would wait for the message, and rank 0 for rank 1.
TEST(CheckingExecutor, ARankThatHasArrivedGoesOn) {
  Job job = list_job({{node_arrive_step(), send_step(1, kLow), node_meet_step(), node_meet_step()},
                      {receive_step(0, kLow), wait_step(), node_meet_step(), node_arrive_step(),
                       node_meet_step()}},
                     0);
  EXPECT_TRUE(job.run({.completion = Completion::eager, .nodes = {0, 0}}));
}

TEST(CheckingExecutor, FindsARankThatArrivesTwice) {
  Job job = list_job({{node_arrive_step(), node_arrive_step(), node_meet_step()}}, 0);
  const Status done = job.run({.nodes = {0}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, EPROTO);
  EXPECT_THAT(done.error().text, HasSubstr("rank 0 arrives at step 1 where it is already"));
}

TEST(CheckingExecutor, FindsARankThatItsNodeWaitsForInVain) {
  Job job = list_job({{node_meet_step()}, {}, {node_meet_step()}}, 0);
  const Status done = job.run({.nodes = {0, 0, 1}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, EDEADLK);
  EXPECT_THAT(done.error().text, HasSubstr("rank 0 at step 0 waits for its node"));
}

TEST(CheckingExecutor, FindsAMeetingWithMessagesOutstanding) {
  Job job = list_job({{receive_step(0, kLow), node_meet_step(1)}}, 0);
  const Status done = job.run({.nodes = {0}});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, EPROTO);
  EXPECT_THAT(done.error().text, HasSubstr("rank 0 meets its node at step 1"));
}

// What a file access moves is known only when it is waited for.
TEST(CheckingExecutor, AccessesTheFileAtAnyTimeUntilItIsWaitedFor) {
  std::set<int> written;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<std::byte> file;
    Job job = list_job({{file_write_step(kLow, 0), copy_step(kHigh, kLow), file_wait_step()}}, 0);
    job.buffers[0].file = &file;
    ASSERT_TRUE(job.run({.seed = seed}));
    written.insert(int(file.at(0)));
  }
  EXPECT_THAT(written, ElementsAre(0, 8));
}

TEST(CheckingExecutor, FindsTwoFileAccessesAtATime) {
  std::vector<std::byte> file;
  Job job = list_job({{file_write_step(kLow, 0), file_write_step(kHigh, 4)}}, 0);
  job.buffers[0].file = &file;
  const Status done = job.run({});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, EPROTO);
  EXPECT_THAT(done.error().text, HasSubstr("rank 0 accesses the file at step 1"));
}

TEST(CheckingExecutor, FindsBuffersThatContradictThemselves) {
  struct Liar : MemoryBuffers {
    void gather(const Slice& slice, std::byte* out) override {
      MemoryBuffers::gather(slice, out);
      out[0] ^= std::byte{1};
    }
  } liar;
  liar.memory.emplace_back(16);
  ListSchedule steps({copy_step(kLow, kHigh)});
  const Status done = run_checked({&steps}, {&liar});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text,
            "rank 0: contiguous() and gather() disagree on bytes [0, +4) of buffer 0");
}

TEST(CheckingExecutor, WantsBuffersForEverySchedule) {
  ListSchedule nothing({});
  EXPECT_EQ(run_checked({&nothing}, {}).error().code, EINVAL);
  EXPECT_TRUE(run_checked({}, {}));
}

}  // namespace
}  // namespace haichi::test
