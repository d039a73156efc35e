#include "replay/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "replay/shares.h"
#include "replay/stream.h"

namespace haichi::replay {
namespace {

using record::Communicator;
using record::Event;
using record::Item;
using record::kAnyRank;
using record::Record;
using record::Sequence;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A plan and what it has for one rank.
struct Made {
  RankPlan mine;
  std::vector<Skipped> skipped;
  uint64_t calls;
  std::vector<std::string> lines;
};

Made plan_replay(const Record& record, int rank) {
  Plan plan(record);
  return {plan.of(rank), plan.skipped(), plan.calls(), plan.told()};
}

// A record of so many ranks, with MPI_COMM_WORLD.
Record record_of(std::vector<Sequence> sequences) {
  Record record;
  record.ranks = int(sequences.size());
  Communicator world{.id = 0};
  for (int rank = 0; rank < record.ranks; ++rank) world.members.push_back(rank);
  record.communicators.push_back(world);
  for (auto& sequence : sequences) record.sequences.emplace_back(std::move(sequence));
  return record;
}

Event send(int to, int64_t bytes = 8) {
  return {.call = "MPI_Send", .bytes = bytes, .comm = 0, .peer = to};
}
Event receive(int from, int64_t bytes = 8) {
  return {.call = "MPI_Recv", .bytes = bytes, .comm = 0, .peer = from};
}
Event barrier() { return {.call = "MPI_Barrier", .comm = 0}; }

// Each event so often, one after the other.
Sequence calls(std::vector<std::pair<Event, uint64_t>> parts) {
  Sequence sequence;
  for (auto& [event, times] : parts) {
    sequence.program.push_back({.times = times, .body = {{.event = int(sequence.events.size())}}});
    sequence.events.push_back(std::move(event));
  }
  return sequence;
}

TEST(Functions, AreToldByTheirNames) {
  EXPECT_EQ(function_of("MPI_Iallreduce"),
            (Function{Kind::collective, Form::nonblocking, Collective::allreduce}));
  EXPECT_EQ(function_of("MPI_Alltoallw").collective, Collective::alltoallv);
  EXPECT_EQ(function_of("MPI_Recv_init"), (Function{Kind::receive, Form::persistent}));
  EXPECT_EQ(function_of("MPI_Iallgatherv_c").collective, Collective::allgatherv);
  EXPECT_EQ(function_of("MPI_Isendrecv"), (Function{Kind::exchange, Form::nonblocking}));
  EXPECT_TRUE(function_of("MPI_Issend").synchronous);
  EXPECT_EQ(function_of("MPI_Issend").form, Form::nonblocking);
  EXPECT_EQ(function_of("MPI_Iprobe").kind, Kind::test);
  EXPECT_EQ(function_of("MPI_Comm_free").kind, Kind::nothing);
  EXPECT_EQ(function_of("MPI_Rput").one_sided, OneSided::put);
  EXPECT_EQ(function_of("MPI_Rput").form, Form::nonblocking);
  EXPECT_EQ(function_of("MPI_Recv").kind, Kind::receive);
  EXPECT_EQ(function_of("MPI_File_iwrite_at_all").file_call, FileCall::write_all);
  EXPECT_EQ(function_of("MPI_File_iwrite_at_all").form, Form::nonblocking);
  EXPECT_EQ(function_of("MPI_File_read_ordered_begin").file_call, FileCall::read_all);
  EXPECT_EQ(function_of("MPI_File_read_all_end").kind, Kind::nothing);
  EXPECT_EQ(function_of("MPI_File_write_shared").file_call, FileCall::write);
  for (const char* name : {"MPI_Sendrecv_init", "MPI_Win_post", "MPI_File_seek", "Send", "MPI_",
                           "MPI_I", "MPI_Wait_init"})
    EXPECT_EQ(function_of(name).kind, Kind::unknown) << name;
}

TEST(Plan, PlaysAllOfWhatIsWhole) {
  const Record record = record_of(
      {calls({{send(1), 10}, {barrier(), 3}}), calls({{receive(0), 10}, {barrier(), 3}})});
  for (int rank : {0, 1}) {
    const Made plan = plan_replay(record, rank);
    EXPECT_THAT(plan.skipped, IsEmpty());
    EXPECT_EQ(plan.calls, 26u);
    EXPECT_TRUE(plan.mine.steps[0].plays && plan.mine.steps[1].plays);
    EXPECT_THAT(plan.mine.limits, IsEmpty());
  }
}

// A record that was cut off: both sides make as many as there are of both.
TEST(Plan, WhatOneSideLacksTheOtherLeavesOut) {
  const Record record =
      record_of({calls({{send(1), 10}, {barrier(), 3}}), calls({{receive(0), 7}, {barrier(), 5}})});
  const Made sender = plan_replay(record, 0), receiver = plan_replay(record, 1);
  ASSERT_EQ(sender.mine.steps[0].limit, 0);
  EXPECT_THAT(sender.mine.limits, ElementsAre(7u, 3u));
  EXPECT_EQ(receiver.mine.steps[0].limit, -1);
  EXPECT_THAT(receiver.mine.limits, ElementsAre(3u));
  EXPECT_THAT(sender.lines, ElementsAre("left out: 2 collective calls: not all ranks of the "
                                        "communicator have recorded them in this order",
                                        "left out: 3 sends: their receives are not recorded"));
  EXPECT_EQ(sender.lines, receiver.lines);
  EXPECT_EQ(sender.calls, 20u);
}

TEST(Plan, FromAnyRankOnlyWhereNumbersAreEqual) {
  for (const uint64_t received : {5u, 6u}) {
    const Record record = record_of({calls({{receive(kAnyRank, 4), received}, {receive(1), 1}}),
                                     calls({{send(0, 100), 4}}), calls({{send(0, 7), 2}})});
    const Made plan = plan_replay(record, 0), other = plan_replay(record, 1);
    EXPECT_EQ(plan.mine.steps[0].plays, received == 5);
    EXPECT_EQ(plan.mine.steps[1].plays, received == 5);
    EXPECT_EQ(other.mine.steps[0].plays, received == 5);
    // Whatever comes has room.
    EXPECT_EQ(plan.mine.steps[1].capacity, 100);
    EXPECT_EQ(plan.skipped.size(), received == 5 ? 0u : 1u);
  }
}

TEST(Plan, CollectivesInAnotherOrderEndWhatIsMade) {
  const Event reduce{.call = "MPI_Allreduce", .bytes = 8, .comm = 0};
  Sequence one = calls({{barrier(), 1}, {reduce, 1}}), other = one;
  one.program = {{.times = 100, .body = {{.event = 0}, {.event = 1}}}, {.event = 0}, {.event = 1}};
  other.program = {
      {.times = 100, .body = {{.event = 0}, {.event = 1}}}, {.event = 1}, {.event = 0}};
  const Made plan = plan_replay(record_of({one, other}), 1);
  EXPECT_THAT(plan.mine.limits, ElementsAre(200u));
  EXPECT_EQ(plan.mine.steps[0].limit, 0);
  EXPECT_EQ(plan.mine.steps[1].limit, 0);
  EXPECT_EQ(plan.skipped.at(0).times, 4u);
}

TEST(Plan, BytesAndRootsMustAgree) {
  Event bcast{.call = "MPI_Bcast", .bytes = 8, .comm = 0, .root = 0}, other = bcast;
  other.root = 1;
  EXPECT_EQ(plan_replay(record_of({calls({{bcast, 5}}), calls({{other, 5}})}), 0).calls, 0u);
  other = bcast;
  other.bytes = 9;
  EXPECT_EQ(plan_replay(record_of({calls({{bcast, 5}}), calls({{other, 5}})}), 0).calls, 0u);
  EXPECT_EQ(plan_replay(record_of({calls({{bcast, 5}}), calls({{bcast, 5}})}), 0).calls, 10u);
}

TEST(Plan, ARankWithoutASequenceTakesNoPart) {
  Record record = record_of({calls({{barrier(), 5}}), {}});
  record.sequences[1].reset();
  EXPECT_THAT(plan_replay(record, 0).mine.limits, ElementsAre(0u));
  EXPECT_THAT(plan_replay(record, 1).mine.steps, IsEmpty());
}

TEST(Plan, SaysWhatItCannotDo) {
  Record record = record_of({calls({{{.call = "MPI_Win_post", .window = 0}, 2},
                                    {{.call = "MPI_Send", .comm = 9, .peer = 0}, 1},
                                    {{.call = "MPI_Barrier", .comm = 1}, 1},
                                    {{.call = "MPI_Gatherv", .comm = 2, .root = 0}, 1},
                                    {{.call = "MPI_Allreduce_init", .comm = 0}, 1},
                                    {{.call = "MPI_Neighbor_alltoall", .comm = 0}, 1},
                                    {{.call = "MPI_Bcast", .comm = 0}, 1}})});
  record.communicators.push_back({.id = 1, .members = {0}, .remote = {0}});
  record.communicators.push_back({.id = 2});
  EXPECT_THAT(
      plan_replay(record, 0).lines,
      ElementsAre("left out: 1 MPI_Allreduce_init: persistent collectives are not replayed",
                  "left out: 1 MPI_Barrier: it is on an intercommunicator",
                  "left out: 1 MPI_Bcast: its root is not recorded",
                  "left out: 1 MPI_Gatherv: ranks of another job are on its communicator, too",
                  "left out: 1 MPI_Neighbor_alltoall: who the neighbours are is not recorded",
                  "left out: 1 MPI_Send: its communicator is not in the record",
                  "left out: 2 MPI_Win_post: the replay does not know it"));
}

TEST(Plan, WindowsNeedTheirCommunicatorAndItsAgreement) {
  const Event create{.call = "MPI_Win_create", .bytes = 64, .comm = 0, .window = 0};
  const Event fence{.call = "MPI_Win_fence", .window = 0};
  const Event put{.call = "MPI_Put", .bytes = 100, .peer = 1, .window = 0};
  const auto both = [&](Sequence a, Sequence b) {
    return plan_replay(record_of({std::move(a), std::move(b)}), 0);
  };
  const auto whole =
      both(calls({{create, 1}, {fence, 2}, {put, 3}}), calls({{create, 1}, {fence, 2}}));
  EXPECT_THAT(whole.lines, IsEmpty());
  EXPECT_TRUE(whole.mine.steps[2].plays);
  EXPECT_EQ(whole.mine.steps[2].comm, 0);
  EXPECT_EQ(whole.mine.largest_one_sided, 100);
  // A fence that one lacks: no access, but as many other collectives as both have.
  const auto less =
      both(calls({{create, 1}, {fence, 2}, {put, 3}}), calls({{create, 1}, {fence, 1}}));
  EXPECT_FALSE(less.mine.steps[0].plays);
  EXPECT_FALSE(less.mine.steps[2].plays);
  EXPECT_THAT(less.mine.limits, ElementsAre(2u));
  EXPECT_EQ(less.skipped.size(), 2u);
  const auto posted =
      both(calls({{create, 1}, {{.call = "MPI_Win_post", .window = 0}, 1}, {put, 3}}),
           calls({{create, 1}}));
  EXPECT_FALSE(posted.mine.steps[0].plays || posted.mine.steps[2].plays);
  EXPECT_FALSE(both(calls({{put, 3}}), {}).mine.steps[0].plays);
}

TEST(Plan, FilesAreOfTheCommunicatorTheyWereOpenedOn) {
  const Event open{.call = "MPI_File_open", .comm = 0, .file = 4};
  const Event write{.call = "MPI_File_write_at_all", .bytes = 10, .file = 4};
  Event more = write;
  more.bytes = 99;
  const Made plan =
      plan_replay(record_of({calls({{open, 1}, {write, 3}}), calls({{open, 1}, {more, 2}})}), 0);
  EXPECT_EQ(plan.mine.largest_in_file, 99);
  EXPECT_EQ(plan.mine.steps[1].comm, 0);
  EXPECT_THAT(plan.mine.limits, ElementsAre(3u));
}

TEST(Plan, PersistentRequestsCountAsOftenAsTheyAreStarted) {
  const Sequence sender =
      calls({{{.call = "MPI_Send_init", .bytes = 8, .comm = 0, .peer = 1, .request = 3}, 1},
             {{.call = "MPI_Startall", .completes = {3}}, 6},
             {{.call = "MPI_Wait", .completes = {3}}, 6}});
  EXPECT_THAT(plan_replay(record_of({sender, calls({{receive(0), 6}})}), 0).skipped, IsEmpty());
  EXPECT_EQ(plan_replay(record_of({sender, calls({{receive(0), 9}})}), 1).mine.limits.at(0), 6u);
}

TEST(Plan, ASlotIsAnothersOnceItsRequestIsFreed) {
  const Sequence sender =
      calls({{{.call = "MPI_Send_init", .bytes = 8, .comm = 0, .peer = 1, .request = 3}, 1},
             {{.call = "MPI_Start", .completes = {3}}, 2},
             {{.call = "MPI_Request_free", .completes = {3}}, 1},
             {{.call = "MPI_Barrier_init", .comm = 0, .request = 3}, 1},
             {{.call = "MPI_Start", .completes = {3}}, 9}});
  EXPECT_THAT(deliveries(sender), ElementsAre(2u, 2u, 1u, 9u, 9u));
  EXPECT_EQ(plan_replay(record_of({sender, calls({{receive(0), 9}})}), 1).mine.limits.at(0), 2u);
}

// If one of the receives is left out, the others would get messages that were not theirs, maybe of
// a sender who waits for what comes behind them.
TEST(Plan, MessagesAreLeftOutWhereNobodyKnowsWhatAReceiveTook) {
  Event unknown = receive(0);
  unknown.comm = -1;
  const auto sender = calls({{send(1), 2}, {barrier(), 1}});
  const auto receiver = calls({{unknown, 1}, {barrier(), 1}, {receive(0), 1}});
  const Made plan = plan_replay(record_of({sender, receiver}), 0);
  EXPECT_FALSE(plan.mine.steps[0].plays);
  EXPECT_TRUE(plan.mine.steps[1].plays);
  EXPECT_THAT(plan.lines,
              ElementsAre("left out: 1 MPI_Recv: its communicator is not in the record",
                          "left out: 3 messages: which of them a receive took that is left out is "
                          "not recorded"));
}

TEST(Plan, MessagesAreLeftOutWhereAReceiveWasCancelled) {
  Event begun{.call = "MPI_Irecv", .bytes = 8, .comm = 0, .peer = 0, .request = 0};
  const auto receiver = calls({{begun, 1},
                               {{.call = "MPI_Cancel", .completes = {0}}, 1},
                               {{.call = "MPI_Wait", .completes = {0}}, 1},
                               {barrier(), 1},
                               {receive(0), 1}});
  const Made plan = plan_replay(record_of({calls({{barrier(), 1}, {send(1), 1}}), receiver}), 1);
  EXPECT_FALSE(plan.mine.steps[0].plays);
  EXPECT_TRUE(plan.mine.steps[3].plays);
  EXPECT_FALSE(plan.mine.steps[4].plays);
}

TEST(Stream, PrefixesAreFoundInLoops) {
  // 1000 x (a, 10 x b), in two forms, and one that differs at its 5000th call.
  const std::vector<Item> folded{
      {.times = 1000, .body = {{.event = 0}, {.event = 1, .times = 10}}}};
  std::vector<Item> turned{{.event = 0}};
  turned.push_back({.times = 999, .body = {{.event = 1, .times = 10}, {.event = 0}}});
  turned.push_back({.event = 1, .times = 10});
  std::vector<Item> other{{.times = 4999 / 11, .body = folded[0].body}};
  for (int i = 4999 / 11 * 11; i < 4999; ++i) other.push_back({.event = i % 11 == 0 ? 0 : 1});
  other.push_back({.event = 2});
  other.push_back(folded[0]);
  const std::vector<uint64_t> tokens{7, 9, 11};
  const Stream a{&folded, tokens}, b{&turned, tokens}, c{&other, tokens};
  EXPECT_EQ(count(a), 11'000u);
  EXPECT_EQ(common_prefix(std::vector{a, b}), 11'000u);
  EXPECT_EQ(common_prefix(std::vector{a, b, c}), 4999u);
  // Without the b's they are alike.
  const std::vector<uint64_t> only_a{7, 0, 0};
  EXPECT_EQ(common_prefix(std::vector<Stream>{{&folded, only_a}, {&other, only_a}}), 1000u);
}

TEST(Shares, FollowWhatRanksSendAndReceive) {
  const Sums sums{{100, 0, 200}, {30, 60, 210}};
  EXPECT_EQ(share(sums, 0, 2), 70);
  EXPECT_EQ(share(sums, 1, 2), 0);
  EXPECT_EQ(share(sums, 2, 1), 40);
  EXPECT_EQ(share({{90, 0, 0}, {0, 0, 0}}, 0, 1), 30);
}

TEST(Shares, AreThoseOfTheCallWhoseTurnItIs) {
  const auto varying = [](int64_t bytes) {
    return Event{.call = "MPI_Alltoallv", .bytes = bytes, .comm = 0, .received = bytes + 1};
  };
  const Record record = record_of(
      {calls({{varying(1), 2}, {barrier(), 1}, {varying(5), 1}}), calls({{varying(9), 3}})});
  VaryingCalls all(record, *record.communicator(0));
  EXPECT_THAT(all.next().sent, ElementsAre(1, 9));
  EXPECT_THAT(all.next().sent, ElementsAre(1, 9));
  EXPECT_THAT(all.next().sent, ElementsAre(5, 9));
}

}  // namespace
}  // namespace haichi::replay
