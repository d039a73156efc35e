// Times worked out by hand: a message takes 1 us and 1 ns a byte between nodes, and half of that
// inside a node; the ranks' own work is nothing, so that every sum can be read.
#include "predict/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace haichi::predict {
namespace {

using machine::Place;
using placement::Placement;
using record::Event;
using record::Item;
using record::Sequence;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

machine::Profile plain() {
  machine::Profile profile;
  machine::Machine& machine = profile.machine;
  for (const auto& [name, value] : {std::pair{"send_ns", 0.0},
                                    {"match_ns", 0.0},
                                    {"receive_ns", 0.0},
                                    {"copy_gbs", 1e9},
                                    {"eager_bytes", 1000.0},
                                    {"out_gbs", 1.0},
                                    {"in_gbs", 1.0}})
    EXPECT_TRUE(set_field(machine, name, value));
  machine.curves.push_back({Place::network, {{0, 1e9, 1e-6, 1e-9}}});
  machine.curves.push_back({Place::node, {{0, 1e9, 0.5e-6, 0.5e-9}}});
  return profile;
}

Event call(std::string name, int peer = -1, int64_t bytes = -1, int tag = 0) {
  Event event;
  event.call = std::move(name);
  event.peer = peer;
  event.bytes = bytes;
  event.tag = tag;
  event.comm = 0;
  return event;
}
Event after(double compute_s, Event event) {
  event.compute_s = compute_s;
  return event;
}
Event slot(Event event, int request) {
  event.request = request;
  return event;
}
Event wait(std::vector<int> slots) {
  Event event = call("MPI_Waitall");
  event.completes = std::move(slots);
  return event;
}

Sequence once(std::vector<Event> events) {
  Sequence sequence{std::move(events), {}};
  for (size_t i = 0; i < sequence.events.size(); ++i) sequence.program.push_back({int(i), 1, {}});
  return sequence;
}

Outcome outcome_of(const Placement& placement, const std::vector<Sequence>& sequences,
                   const machine::Profile& profile = plain(), const Options& options = {}) {
  std::vector<Communicator> world(1);
  world[0].members.resize(sequences.size());
  std::iota(world[0].members.begin(), world[0].members.end(), 0);
  Job job{&placement, world, {}};
  for (const Sequence& each : sequences) job.sequences.push_back(&each);
  const Costs costs(placement, profile, machine::Bound::middle);
  auto outcome = run(job, costs, options);
  if (outcome) return *std::move(outcome);
  ADD_FAILURE() << outcome.error().text;
  return {};
}

std::vector<int64_t> ends(const Outcome& outcome) {
  std::vector<int64_t> times;
  for (const RankShare& each : outcome.ranks) times.push_back(each.end / sim::kNanosecond);
  return times;
}
std::vector<int64_t> ends(const Placement& placement, const std::vector<Sequence>& sequences) {
  const Outcome outcome = outcome_of(placement, sequences);
  EXPECT_THAT(outcome.problems, SizeIs(0));
  return ends(outcome);
}

TEST(PredictEngine, AMessageTakesWhatWasMeasuredOfItsPlace) {
  const std::vector<Sequence> two = {once({call("MPI_Send", 1, 500)}),
                                     once({call("MPI_Recv", 0, 500)})};
  EXPECT_THAT(ends(placement::block(2, 1), two), ElementsAre(0, 1500));
  EXPECT_THAT(ends(placement::block(1, 2), two), ElementsAre(0, 750));
}

TEST(PredictEngine, ARendezvousWaitsForBothSides) {
  const auto placement = placement::block(2, 1);
  const Outcome late = outcome_of(placement, {once({call("MPI_Send", 1, 5000)}),
                                              once({after(1e-5, call("MPI_Recv", 0, 5000))})});
  EXPECT_THAT(ends(late), ElementsAre(16000, 16000));
  EXPECT_EQ(late.ranks[0].waiting / sim::kNanosecond, 10000);
  EXPECT_EQ(late.ranks[1].caused / sim::kNanosecond, 10000);
  EXPECT_EQ(late.ranks[1].waiting, 0);
  // An eager one does not wait for its receiver.
  EXPECT_THAT(ends(placement, {once({call("MPI_Send", 1, 500)}),
                               once({after(1e-5, call("MPI_Recv", 0, 500))})}),
              ElementsAre(0, 10000));
  EXPECT_THAT(ends(placement, {once({call("MPI_Ssend", 1, 500)}),
                               once({after(1e-5, call("MPI_Recv", 0, 500))})}),
              ElementsAre(11500, 11500));
}

TEST(PredictEngine, AReceiverWaitsForALateSender) {
  const Outcome outcome =
      outcome_of(placement::block(2, 1),
                 {once({after(1e-5, call("MPI_Send", 1, 500))}), once({call("MPI_Recv", 0, 500)})});
  EXPECT_THAT(ends(outcome), ElementsAre(10000, 11500));
  EXPECT_EQ(outcome.ranks[1].waiting / sim::kNanosecond, 10000);
  EXPECT_EQ(outcome.ranks[1].transfer / sim::kNanosecond, 1500);
  EXPECT_EQ(outcome.ranks[0].caused / sim::kNanosecond, 10000);
  ASSERT_THAT(outcome.path, SizeIs(2));
  EXPECT_EQ(outcome.path[0].function, "");
  EXPECT_EQ(outcome.path[0].time / sim::kNanosecond, 10000);
  EXPECT_EQ(outcome.path[1].function, "MPI_Recv");
  EXPECT_EQ(outcome.path[1].place, "network");
  EXPECT_EQ(outcome.path[1].time / sim::kNanosecond, 1500);
  EXPECT_EQ(outcome.path[1].messages, 1);
  EXPECT_EQ(outcome.path[1].bytes, 500);
}

TEST(PredictEngine, MessagesOfANodeShareItsPorts) {
  // Two ranks of one node send 500 and 300 bytes at once: the first 300 of each leave by turns.
  const Placement placement(std::vector<int>{0, 0, 1, 2});
  EXPECT_THAT(ends(placement, {once({call("MPI_Isend", 2, 500)}), once({call("MPI_Isend", 3, 300)}),
                               once({call("MPI_Recv", 0, 500)}), once({call("MPI_Recv", 1, 300)})}),
              ElementsAre(0, 0, 1800, 1600));
  // Two nodes send to one.
  EXPECT_THAT(ends(placement::block(3, 1),
                   {once({call("MPI_Isend", 2, 500)}), once({call("MPI_Isend", 2, 300)}),
                    once({call("MPI_Recv", 1, 300), call("MPI_Recv", 0, 500)})}),
              ElementsAre(0, 0, 1800));
}

TEST(PredictEngine, RequestsAreWaitedForBySlot) {
  const auto placement = placement::block(2, 1);
  const std::vector<Sequence> two = {
      once({slot(call("MPI_Isend", 1, 2000), 0), slot(call("MPI_Irecv", 1, 100), 1),
            after(2e-6, wait({1})), wait({0})}),
      once({slot(call("MPI_Irecv", 0, 2000), 0), call("MPI_Send", 0, 100), wait({0})})};
  EXPECT_THAT(ends(placement, two), ElementsAre(3000, 3000));
}

TEST(PredictEngine, TagsAndOpenSourcesMatchAsInMpi) {
  const auto placement = placement::block(3, 1);
  // The message with tag 2 was sent first; each receive takes its own.
  EXPECT_THAT(ends(placement, {once({call("MPI_Send", 1, 10, 2), call("MPI_Send", 1, 20, 1)}),
                               once({call("MPI_Recv", 0, 20, 1), call("MPI_Recv", 0, 10, 2),
                                     call("MPI_Recv", record::kAnyRank, 900, record::kAnyTag)}),
                               once({after(1e-5, call("MPI_Send", 1, 900, 7))})}),
              ElementsAre(0, 11900, 10000));
}

TEST(PredictEngine, ASendrecvSendsAndReceivesAtOnce) {
  Event shift = call("MPI_Sendrecv", 1, 500);
  shift.from = 1;
  Event back = call("MPI_Sendrecv", 0, 500);
  back.from = 0;
  EXPECT_THAT(ends(placement::block(2, 1), {once({shift}), once({back})}), ElementsAre(1500, 1500));
}

TEST(PredictEngine, ABegunExchangeIsOverWhenItsReceiveIs) {
  Event shift = slot(call("MPI_Isendrecv", 1, 500), 0);
  shift.from = 1;
  Event back = call("MPI_Sendrecv", 0, 500);
  back.from = 0;
  const std::vector<Sequence> both = {once({shift, after(1e-6, wait({0}))}),
                                      once({after(2e-6, back)})};
  EXPECT_THAT(ends(placement::block(2, 1), both), ElementsAre(3500, 2000));
}

TEST(PredictEngine, LoopsAreWalked) {
  Sequence ping{{call("MPI_Send", 1, 0), call("MPI_Recv", 1, 0)}, {}};
  ping.program = {{-1, 1000, {{0, 1, {}}, {1, 1, {}}}}};
  Sequence pong{{call("MPI_Recv", 0, 0), call("MPI_Send", 0, 0)}, {}};
  pong.program = ping.program;
  const Outcome outcome = outcome_of(placement::block(2, 1), {ping, pong});
  EXPECT_THAT(ends(outcome), ElementsAre(2000000, 1999000));
  EXPECT_EQ(outcome.events, 4000);
  ASSERT_THAT(outcome.path, SizeIs(1));
  EXPECT_EQ(outcome.path[0].function, "MPI_Recv");
  EXPECT_EQ(outcome.path[0].time, outcome.end());
  EXPECT_EQ(outcome.path[0].messages, 2000);
}

TEST(PredictEngine, ABarrierWaitsForTheLastRank) {
  const auto placement = placement::block(4, 1);
  std::vector<Sequence> four(4, once({call("MPI_Barrier")}));
  four[2] = once({after(1e-5, call("MPI_Barrier"))});
  const Outcome outcome = outcome_of(placement, four);
  EXPECT_THAT(ends(outcome), ElementsAre(11000, 12000, 10000, 11000));
  EXPECT_EQ(outcome.ranks[0].waiting / sim::kNanosecond, 10000);
  EXPECT_EQ(outcome.ranks[2].waiting, 0);
  EXPECT_EQ(outcome.ranks[2].caused / sim::kNanosecond, 30000);
  EXPECT_THAT(outcome.notes, ElementsAre(HasSubstr("MPI_Barrier of 4 ranks on 4 nodes")));
}

TEST(PredictEngine, ACollectiveCallTakesWhatWasMeasured) {
  machine::Profile profile = plain();
  profile.collectives.push_back({"barrier", 4, 4, {{0}, {7e-6}, {}, {}}});
  profile.collectives.push_back({"alltoall", 4, 4, {{8, 1024}, {20e-6, 40e-6}, {}, {}}});
  const auto placement = placement::block(4, 1);
  const std::vector<Sequence> four(4, once({call("MPI_Barrier"), call("MPI_Alltoall", -1, 516),
                                            call("MPI_Alltoallv", -1, 2064)}));
  profile.collectives.push_back({"alltoallv", 4, 4, {{8, 1024}, {50e-6, 70e-6}, {}, {}}});
  const Outcome outcome = outcome_of(placement, four, profile);
  EXPECT_THAT(outcome.notes, SizeIs(0));
  for (const RankShare& each : outcome.ranks)
    EXPECT_NEAR(sim::seconds(each.end), 7e-6 + 30e-6 + 60e-6, 1e-9);
}

// Two columns of a grid of ranks, each on both nodes: 4 messages of 1000 bytes go through a port.
TEST(PredictEngine, CallsOfTwoCommunicatorsShareNoMoreThanTheirPorts) {
  const auto placement = placement::block(2, 4);
  const std::vector<Communicator> columns = {{1, {0, 2, 4, 6}}, {2, {1, 3, 5, 7}}};
  std::vector<Sequence> eight;
  for (int rank = 0; rank < 8; ++rank) {
    eight.push_back(once({call("MPI_Alltoall", -1, 1000)}));
    eight.back().events[0].comm = 1 + rank % 2;
  }
  const auto takes = [&](double measured, size_t ranks) {
    machine::Profile profile = plain();
    profile.collectives.push_back({"alltoall", 4, 2, {{1000}, {measured}, {}, {}}});
    Job job{&placement, columns, {}};
    const Sequence nothing;
    for (size_t rank = 0; rank < 8; ++rank)
      job.sequences.push_back(rank % 2 < ranks / 4 ? &eight[rank] : &nothing);
    const auto outcome = run(job, Costs(placement, profile, machine::Bound::middle));
    EXPECT_THAT(outcome->notes, SizeIs(0));
    return sim::seconds(outcome->end()) * 1e6;
  };
  // The messages alone: 1 us, and 4 of 1 us each through a port.
  EXPECT_NEAR(takes(5, 4) * 1e-6, 5, 1e-5);
  for (const double more : {0.0, 5.0, 95.0}) {
    EXPECT_NEAR(takes((5 + more) * 1e-6, 4), 5 + more, 1e-3);
    EXPECT_NEAR(takes((5 + more) * 1e-6, 8), 9 + more, 1e-2) << "the ports' 4 us once more";
  }
  // It takes less than its messages come to: then the ports are quicker too.
  EXPECT_NEAR(takes(2.5e-6, 4), 2.5, 1e-3);
  EXPECT_NEAR(takes(2.5e-6, 8), 4.5, 1e-2);
}

TEST(PredictEngine, ACallWithNothingBeyondItsPortsIsStretchedThere) {
  machine::Profile profile = plain();
  profile.machine.curves[0] = {Place::network, {{0, 1e9, 0, 1e-9}}};
  profile.collectives.push_back({"alltoall", 2, 2, {{1000}, {7e-6}, {}, {}}});
  const std::vector<Sequence> two(2, once({call("MPI_Alltoall", -1, 1000)}));
  EXPECT_NEAR(sim::seconds(outcome_of(placement::block(2, 1), two, profile).end()), 7e-6, 1e-11);
}

// The messages of a call that was not measured have curves between nodes, and none inside them.
TEST(PredictEngine, WhatTheNumbersAloneTellIsSaid) {
  machine::Profile profile = plain();
  profile.machine.curves.pop_back();
  profile.collectives.push_back({"barrier", 2, 1, {{0}, {7e-6}, {}, {}}});
  const std::vector<Sequence> two(2, once({call("MPI_Barrier"), call("MPI_Alltoall", -1, 500)}));
  const auto by_numbers = [&](const Placement& placement) {
    std::vector<std::string> names;
    for (const FunctionShare& each : outcome_of(placement, two, profile).functions)
      if (each.by_numbers) names.push_back(each.function);
    return names;
  };
  EXPECT_THAT(by_numbers(placement::block(1, 2)), ElementsAre("MPI_Alltoall"));
  EXPECT_THAT(by_numbers(placement::block(2, 1)), SizeIs(0));
}

TEST(PredictEngine, ACallOfOneRankNeedsNoMeasurement) {
  const Outcome outcome =
      outcome_of(placement::block(1, 1), {once({call("MPI_Allreduce", -1, 8)})});
  EXPECT_THAT(outcome.notes, SizeIs(0));
  EXPECT_EQ(outcome.end(), 0);
}

TEST(PredictEngine, EveryCollectiveCallEndsOnAnyNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 5, 8, 13})
    for (const char* const name :
         {"MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Gather", "MPI_Gatherv",
          "MPI_Scatter", "MPI_Scatterv", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall",
          "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Scan", "MPI_Exscan", "MPI_Reduce_scatter",
          "MPI_Reduce_scatter_block", "MPI_Win_fence", "MPI_Allreduce_c"})
      for (const int64_t bytes : {0, 7, 5000, 100000}) {
        Event event = call(name, -1, bytes);
        event.root = ranks / 2;
        const std::vector<Sequence> all(size_t(ranks), once({event, event}));
        const Outcome outcome = outcome_of(placement::block(ranks, 1), all);
        EXPECT_THAT(outcome.problems, SizeIs(0)) << name << " " << ranks << " " << bytes;
        EXPECT_TRUE(ranks == 1 || bytes == 0 || outcome.end() > 0) << name;
      }
}

TEST(PredictEngine, RanksThatGiveDifferentBytesMeetInOneCall) {
  for (const char* const name : {"MPI_Alltoallv", "MPI_Alltoallw", "MPI_Allgatherv"}) {
    std::vector<Sequence> all;
    for (const int64_t bytes : {0, 100, 5000, 4000000})
      all.push_back(once({call(name, -1, bytes)}));
    const Outcome outcome = outcome_of(placement::block(4, 1), all);
    EXPECT_THAT(outcome.problems, SizeIs(0)) << name;
    EXPECT_GT(outcome.end(), 0) << name;
  }
}

TEST(PredictEngine, ANonblockingCollectiveCallGoesOnBesideTheRank) {
  const auto placement = placement::block(2, 1);
  // The first rank would wait for ever if its barrier waited for it to wait.
  EXPECT_THAT(
      ends(placement, {once({slot(call("MPI_Ibarrier"), 0), call("MPI_Recv", 1, 500), wait({0})}),
                       once({slot(call("MPI_Ibarrier"), 0), wait({0}), call("MPI_Send", 0, 500)})}),
      ElementsAre(2500, 1000));
}

TEST(PredictEngine, PersistentRequestsAreStarted) {
  const auto both = [](int peer) {
    Event start = call("MPI_Startall");
    start.completes = {0, 1};
    Sequence sequence = once({slot(call("MPI_Send_init", peer, 500, 4), 0),
                              slot(call("MPI_Recv_init", peer, 500, 4), 1), start, wait({0, 1})});
    sequence.program = {{0, 1, {}}, {1, 1, {}}, {-1, 3, {{2, 1, {}}, {3, 1, {}}}}};
    return sequence;
  };
  EXPECT_THAT(ends(placement::block(2, 1), {both(1), both(0)}), ElementsAre(4500, 4500));
  // Nobody made what is started.
  Event start = call("MPI_Start");
  start.completes = {7};
  EXPECT_THAT(ends(placement::block(1, 1), {once({start})}), ElementsAre(0));
}

TEST(PredictEngine, AFreedRequestIsNotStartedAgain) {
  Event start = call("MPI_Start"), free = call("MPI_Request_free");
  start.completes = free.completes = {0};
  const auto sequence = [&](const char* made, int peer) {
    return once({slot(call(made, peer, 500), 0), start, wait({0}), free,
                 slot(call("MPI_Barrier_init"), 0), start, wait({0})});
  };
  const std::vector<Sequence> both = {sequence("MPI_Send_init", 1), sequence("MPI_Recv_init", 0)};
  EXPECT_THAT(ends(placement::block(2, 1), both), ElementsAre(0, 1500));
}

TEST(PredictEngine, PutsAreThereBehindAFence) {
  const auto placement = placement::block(2, 1);
  const Sequence both = once({call("MPI_Put", 1, 5000), call("MPI_Win_fence")});
  const Sequence target = once({call("MPI_Win_fence")});
  EXPECT_THAT(ends(placement, {both, target}), ElementsAre(6000, 7000));
}

TEST(PredictEngine, ComputingCanBeScaled) {
  const Outcome outcome =
      outcome_of(placement::block(1, 1), {once({after(1e-5, call("MPI_Barrier"))})}, plain(),
                 {.compute_scale = 0.5});
  EXPECT_THAT(ends(outcome), ElementsAre(5000));
}

TEST(PredictEngine, CallsWithoutAModelTakeWhatTheyTook) {
  Event open = call("MPI_File_open");
  open.took_s = 3e-6;
  const Outcome outcome = outcome_of(placement::block(1, 1), {once({open})});
  EXPECT_THAT(ends(outcome), ElementsAre(3000));
  EXPECT_EQ(outcome.ranks[0].recorded / sim::kNanosecond, 3000);
}

TEST(PredictEngine, WhatNeverComesIsSaid) {
  const auto placement = placement::block(2, 1);
  const Outcome vain = outcome_of(placement, {once({call("MPI_Recv", 1, 8, 5)}), once({})});
  EXPECT_THAT(vain.problems,
              ElementsAre("rank 0 waits in MPI_Recv with rank 1, tag 5, communicator 0 for what "
                          "never comes, and 1 of 2 ranks do not get to their ends"));
  const Outcome lost = outcome_of(placement, {once({call("MPI_Send", 1, 8, 5)}), once({})});
  EXPECT_THAT(lost.problems,
              ElementsAre("rank 1 never receives what rank 0 sent with tag 5; 1 such messages"));
  const Outcome other =
      outcome_of(placement, {once({call("MPI_Barrier")}), once({call("MPI_Allreduce", -1, 8)})});
  ASSERT_THAT(other.problems, SizeIs(2));
  EXPECT_THAT(other.problems[0],
              "rank 1 comes to MPI_Allreduce on communicator 0 where rank 0 came to MPI_Barrier");
  Event elsewhere = call("MPI_Barrier");
  elsewhere.comm = 9;
  EXPECT_THAT(outcome_of(placement, {once({elsewhere}), once({})}).problems[0],
              HasSubstr("communicator 9"));
  EXPECT_THAT(outcome_of(placement, {once({call("MPI_Send", 7, 8)}), once({})}).problems[0],
              HasSubstr("rank 7, and there are 2 ranks"));
}

TEST(PredictEngine, AJobThatIsNoneIsRefused) {
  const auto placement = placement::block(2, 1);
  const auto profile = plain();
  const Costs costs(placement, profile, machine::Bound::middle);
  const Job job{&placement, {}, {}};
  const auto outcome = run(job, costs);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().text, "0 sequences for 2 ranks");
}

}  // namespace
}  // namespace haichi::predict
