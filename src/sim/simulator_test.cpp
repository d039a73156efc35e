// Times worked out by hand: 1 ns a byte on every link and nothing for copies, so that every sum can
// be read.
#include "sim/simulator.h"

#include <gtest/gtest.h>

#include <utility>

#include "support/list_schedule.h"

namespace haichi::sim {
namespace {

using placement::Placement;
using plan::Step;
using test::ListSchedule;
using Steps = std::vector<Step>;

Machine plain() {
  Machine machine;
  machine.send_ns = 100;
  machine.receive_ns = 10;
  machine.match_ns = 50;
  machine.copy_gbs = 1e9;
  machine.eager_bytes = 1000;
  machine.local_latency_ns = 200;
  machine.out_gbs = machine.in_gbs = machine.link_gbs = 1;
  machine.latency_ns = 1000;
  machine.hop_ns = 30;
  return machine;
}

Step send(int peer, int64_t bytes, int64_t round = 0) {
  return {.kind = Step::Kind::send, .peer = peer, .from = {0, 0, bytes}, .round = round};
}
Step receive(int peer, int64_t bytes, int64_t round = 0) {
  return {.kind = Step::Kind::receive, .peer = peer, .to = {1, 0, bytes}, .round = round};
}
Step wait(int64_t round) { return {.kind = Step::Kind::wait, .round = round}; }

Result<Outcome> run(const Placement& placement, const Machine& machine,
                    const std::vector<Steps>& steps, int window = 0, const Options& options = {}) {
  std::vector<ListSchedule> lists;
  for (const Steps& each : steps) lists.emplace_back(each, window);
  std::vector<plan::Schedule*> schedules;
  for (ListSchedule& each : lists) schedules.push_back(&each);
  return simulate(placement, machine, schedules, options);
}

// Nanoseconds at which each rank is done.
std::vector<int64_t> finish(const Placement& placement, const Machine& machine,
                            const std::vector<Steps>& steps, int window = 0) {
  const auto outcome = run(placement, machine, steps, window);
  if (!outcome) ADD_FAILURE() << outcome.error().text;
  std::vector<int64_t> times;
  if (outcome)
    for (const Time each : outcome->finish) times.push_back(each / kNanosecond);
  return times;
}

using Times = std::vector<int64_t>;

TEST(Simulator, AnEagerMessage) {
  // Issued at 100, out of the node at 600; the first byte is there at 1100, the last at 1600.
  EXPECT_EQ(finish(placement::block(2, 1), plain(), {{send(1, 500)}, {receive(0, 500)}}),
            (Times{600, 1650}));
}

TEST(Simulator, AMessageThatComesBeforeItsReceive) {
  Machine machine = plain();
  machine.copy_gbs = 1;
  const Step late{.kind = Step::Kind::copy, .from = {0, 0, 5000}, .to = {1, 0, 5000}};
  // The sender copies 500 ns, the receiver is at its own copy until 5000: 50 + 500 to take what
  // came, 10 to post.
  EXPECT_EQ(finish(placement::block(2, 1), machine, {{send(1, 500)}, {late, receive(0, 500)}}),
            (Times{1100, 5560}));
}

TEST(Simulator, ARendezvous) {
  // Asked at 100 and 1100, matched at 1150, fetched from 2150 on, there at 5150, done at 5200;
  // the sender knows at 6200.
  EXPECT_EQ(finish(placement::block(2, 1), plain(), {{send(1, 2000)}, {receive(0, 2000)}}),
            (Times{6200, 5200}));
  // The receive is posted late: granted at 8010.
  const Step late{.kind = Step::Kind::copy, .from = {0, 0, 8000}, .to = {1, 0, 8000}};
  Machine machine = plain();
  machine.copy_gbs = 1;
  EXPECT_EQ(finish(placement::block(2, 1), machine, {{send(1, 2000)}, {late, receive(0, 2000)}}),
            (Times{8060 + 1000 + 4050, 8060 + 4050}));
}

// An eager message stands before the port in behind rank 2's, whose last byte is there at 2100. The
// word that asks for the next message comes no sooner than the bytes before it, though it need not
// wait for those of others: rank 1's does not.
TEST(Simulator, AWordThatAsksDoesNotOvertake) {
  const Placement four = placement::block(4, 1);
  const auto times =
      finish(four, plain(),
             {{send(3, 500), send(3, 2000)},
              {send(3, 3000)},
              {send(3, 900)},
              {receive(2, 900), receive(0, 500), receive(0, 2000), receive(1, 3000)}});
  // 1: asked at 1100, matched at 1150, its bytes come from 3150 on and are there at 6150.
  EXPECT_EQ(times[1], 6150 + 50 + 1000);
  // 0: asked at 2500, matched behind the eager message at 2600, fetched from 4600 on.
  EXPECT_EQ(times[0], 6150 + 2000 + 50 + 1000);
  Machine at_once = plain();
  at_once.send_ns = 0;
  EXPECT_TRUE(run(placement::block(1, 2), at_once,
                  {{send(1, 500), send(1, 2000)}, {receive(0, 500), receive(0, 2000)}}));
}

TEST(Simulator, MessagesInsideANode) {
  EXPECT_EQ(finish(placement::block(1, 2), plain(), {{send(1, 500)}, {receive(0, 500)}}),
            (Times{100, 350}));
  EXPECT_EQ(finish(placement::block(1, 1), plain(), {{receive(0, 5), send(0, 5)}}), (Times{360}));
  // By rendezvous the receiver copies: 100 + 200 + 50 + 2000, and 200 back.
  Machine machine = plain();
  machine.copy_gbs = 1;
  EXPECT_EQ(finish(placement::block(1, 2), machine, {{send(1, 2000)}, {receive(0, 2000)}}),
            (Times{2550, 2350}));
}

TEST(Simulator, APortInTakesOneMessageAtATime) {
  EXPECT_EQ(finish(placement::block(3, 1), plain(),
                   {{receive(1, 500), receive(2, 500)}, {send(0, 500)}, {send(0, 500)}}),
            (Times{2150, 600, 600}));
}

TEST(Simulator, APortOutIsSharedByTheRanksOfItsNode) {
  EXPECT_EQ(finish(Placement(std::vector<int>{0, 0, 1, 2}), plain(),
                   {{send(2, 500)}, {send(3, 500)}, {receive(0, 500)}, {receive(1, 500)}}),
            (Times{600, 1100, 1650, 2150}));
}

TEST(Simulator, AFullWindowWaitsForTheNextDeparture) {
  const Steps sends{send(1, 500), send(1, 500), send(1, 500)};
  const Steps receives{receive(0, 500), receive(0, 500), receive(0, 500)};
  EXPECT_EQ(finish(placement::block(2, 1), plain(), {sends, receives})[0], 1600);
  // Each waits until the one before has left: 600, 700..1200, 1300..1800.
  EXPECT_EQ(finish(placement::block(2, 1), plain(), {sends, receives}, 1)[0], 1800);
  EXPECT_EQ(finish(placement::block(2, 1), plain(), {sends, receives}, 2)[0], 1600);
}

TEST(Simulator, AFullWindowWaitsForARendezvous) {
  const Steps sends{send(1, 2000), send(1, 2000)};
  const Steps receives{receive(0, 2000), receive(0, 2000)};
  EXPECT_EQ(finish(placement::block(2, 1), plain(), {sends, receives}, 1)[0], 2 * 6200);
  EXPECT_LT(finish(placement::block(2, 1), plain(), {sends, receives}, 2)[0], 2 * 6200);
}

TEST(Simulator, AWaitIsForItsRoundAlone) {
  // Rank 1's message of round 1 comes late; rank 0 can end round 0 and answer before that.
  const Step late{.kind = Step::Kind::copy, .from = {0, 0, 90000}, .to = {1, 0, 90000}};
  Machine machine = plain();
  machine.copy_gbs = 1;
  const Times times =
      finish(placement::block(3, 1), machine,
             {{receive(1, 10, 0), receive(2, 10, 1), wait(0), send(1, 10, 0), wait(1)},
              {send(0, 10), receive(0, 10)},
              {late, send(0, 10)}});
  EXPECT_LT(times[1], 5000);
  EXPECT_GT(times[0], 90000);
}

TEST(Simulator, ANodeMeets) {
  const Step meet = test::node_meet_step();
  const Step copy{.kind = Step::Kind::copy, .from = {0, 0, 700}, .to = {1, 0, 700}};
  Machine machine = plain();
  machine.copy_gbs = 1;
  EXPECT_EQ(finish(Placement(std::vector<int>{0, 0, 1}), machine,
                   {{meet, copy, meet}, {copy, meet, meet}, {meet}}),
            (Times{1800, 1800, 200}));
}

TEST(Simulator, ARankThatHasArrivedWorksBeforeItWaits) {
  const Step arrive = test::node_arrive_step(), meet = test::node_meet_step();
  const Step copy{.kind = Step::Kind::copy, .from = {0, 0, 700}, .to = {1, 0, 700}};
  Machine machine = plain();
  machine.copy_gbs = 1;
  // Both copy at the same time, and the meeting is over when rank 0 asks; the second one is not.
  EXPECT_EQ(finish(placement::block(1, 2), machine,
                   {{arrive, copy, copy, meet, meet}, {copy, arrive, meet, copy, copy, meet}}),
            (Times{2500, 2500}));
}

TEST(Simulator, LinksBetweenSwitchesAreShared) {
  Machine machine = plain();
  machine.network = "mesh:3";
  // Both to node 2: rank 0's message comes to the link from 1 to 2 30 ns behind rank 1's.
  EXPECT_EQ(finish(placement::block(3, 1), machine,
                   {{send(2, 500)}, {send(2, 500)}, {receive(0, 500), receive(1, 500)}})[2],
            100 + 1000 + 30 + 500 + 500 + 50);
  // A link that is slower than the ports holds the last byte up.
  machine.link_gbs = 0.5;
  EXPECT_EQ(finish(placement::block(3, 1), machine, {{}, {send(2, 500)}, {receive(1, 500)}})[2],
            100 + 1000 + 30 + 1000 + 50);
}

TEST(Simulator, AQueueThatIsSearched) {
  // Rank 0 posts until 30. Rank 3's message is there at 1600, and its receive is the third: 50 to
  // match and 3 x 40 to look. Those of 1 and 2 come then, at 2600, each the first: 90 each.
  Machine machine = plain();
  machine.search_ns = 40;
  const Step busy{.kind = Step::Kind::copy, .from = {0, 0, 1000}, .to = {1, 0, 1000}};
  machine.copy_gbs = 1;
  machine.eager_bytes = 0;  // nothing is copied but by that step
  const std::vector<Steps> steps{{receive(1, 0), receive(2, 0), receive(3, 0)},
                                 {busy, send(0, 0)},
                                 {busy, send(0, 0)},
                                 {send(0, 0)}};
  EXPECT_EQ(finish(placement::block(4, 1), machine, steps), (Times{2280, 1100, 1100, 100}));
  machine.search_ns = 0;
  EXPECT_EQ(finish(placement::block(4, 1), machine, steps)[0], 2200);
}

TEST(Simulator, WordsOfARendezvousThatTakeNoTime) {
  // Asked at 100 and 1100, matched at 1150, fetched from 2150 on, there at 6150, done at 6200, and
  // told at 7200; each word less is 1000 ns less.
  Machine machine = plain();
  const std::vector<Steps> steps{{send(1, 3000)}, {receive(0, 3000)}};
  const auto at = [&](int words) {
    machine.rendezvous_words = words;
    return finish(placement::block(2, 1), machine, steps);
  };
  EXPECT_EQ(at(3), (Times{7200, 6200}));
  EXPECT_EQ(at(2), (Times{6200, 6200}));
  EXPECT_EQ(at(1), (Times{5200, 5200}));
  EXPECT_EQ(at(0), (Times{4200, 4200}));
}

TEST(Simulator, WordsOnTheWireWaitBehindData) {
  // Rank 0 asks rank 2, behind 900 bytes for rank 1: the word of 100 bytes has left at 1200.
  Machine machine = plain();
  const std::vector<Steps> steps{
      {send(1, 900), send(2, 3000)}, {receive(0, 900)}, {receive(0, 3000)}};
  const auto plain_words = finish(placement::block(3, 1), machine, steps);
  machine.word_bytes = 100;
  const auto on_wire = finish(placement::block(3, 1), machine, steps);
  // Asked at 200 and 1200, matched at 1250, granted at 2250, there at 6250, done at 6300.
  EXPECT_EQ(plain_words[2], 6300);
  // Asked at 200; the port is free at 1000; there at 2100, matched at 2150; the grant is there at
  // 3250, the bytes at 7250.
  EXPECT_EQ(on_wire[2], 7300);
  EXPECT_EQ(on_wire[0], on_wire[2] + 1100);
}

TEST(Simulator, AFullBufferBlocksWhatIsBehindIt) {
  // Ranks 0 and 1 send to 2; then 1 sends to 3, whose port nobody else uses.
  Machine machine = plain();
  machine.latency_ns = 0;
  const std::vector<Steps> steps{{send(2, 900)},
                                 {send(2, 900), send(3, 100)},
                                 {receive(0, 900), receive(1, 900)},
                                 {receive(1, 100)}};
  EXPECT_EQ(finish(placement::block(4, 1), machine, steps), (Times{1000, 1100, 1950, 1150}));
  machine.buffer_bytes = 1000;
  // The second 900 bytes find no room before the port of 2 until the first have left it, at 1000.
  EXPECT_EQ(finish(placement::block(4, 1), machine, steps), (Times{1000, 2000, 1950, 2050}));
  machine.buffer_bytes = 1800;
  EXPECT_EQ(finish(placement::block(4, 1), machine, steps), (Times{1000, 1100, 1950, 1150}));
}

TEST(Simulator, AMessageThatComesBeforeItsReceiveFromABuffer) {
  Machine machine = plain();
  machine.buffer_bytes = 1000;
  machine.copy_gbs = 1;
  const Step late{.kind = Step::Kind::copy, .from = {0, 0, 5000}, .to = {1, 0, 5000}};
  // As in AMessageThatComesBeforeItsReceive.
  EXPECT_EQ(finish(placement::block(2, 1), machine, {{send(1, 500)}, {late, receive(0, 500)}}),
            (Times{1100, 5560}));
}

TEST(Simulator, AWindowWaitsForWhatABufferHoldsBack) {
  Machine machine = plain();
  machine.latency_ns = 0;
  machine.buffer_bytes = 1000;
  const std::vector<Steps> steps{{send(2, 900)},
                                 {send(2, 900), send(3, 100)},
                                 {receive(0, 900), receive(1, 900)},
                                 {receive(1, 100)}};
  // The second send is begun once the first has left its node, at 1900.
  EXPECT_EQ(finish(placement::block(4, 1), machine, steps, 1), (Times{1000, 2100, 1950, 2150}));
}

TEST(Simulator, AnObserverSeesEveryMessage) {
  struct Messages : Observer {
    void received(const MessageRecord& record) override { seen.push_back(record); }
    std::vector<MessageRecord> seen;
  } messages;
  const auto outcome = run(placement::block(2, 1), plain(), {{send(1, 500)}, {receive(0, 500)}}, 0,
                           {.observer = &messages});
  ASSERT_TRUE(outcome);
  const auto& seen = messages.seen;
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].from, 0);
  EXPECT_EQ(seen[0].to, 1);
  EXPECT_EQ(seen[0].arrived, 1600 * kNanosecond);
  EXPECT_EQ(seen[0].complete, 1650 * kNanosecond);
  EXPECT_EQ(outcome->network_bytes, 500);
}

// 1 us and 2 ns a byte up to 1000 bytes, 3 us and 1 ns a byte above.
Machine with_curve(machine::Place place = machine::Place::node) {
  Machine machine = plain();
  machine.curves.push_back({place, {{0, 1000, 1e-6, 2e-9}, {1000, 9000, 3e-6, 1e-9}}});
  return machine;
}

TEST(Simulator, AMessageInsideANodeTakesWhatTheCurveSays) {
  const Placement node = placement::block(1, 2);
  const Machine machine = with_curve();
  // The receiver posts while the sender works. Eager: both copy half of the 1000 ns.
  EXPECT_EQ(finish(node, machine, {{send(1, 500)}, {receive(0, 500)}}), (Times{600, 2000}));
  // By rendezvous the receiver copies, and the word back takes what one without bytes does.
  EXPECT_EQ(finish(node, machine, {{send(1, 5000)}, {receive(0, 5000)}}), (Times{8850, 8000}));
  // Between nodes it says nothing.
  EXPECT_EQ(finish(placement::block(2, 1), machine, {{send(1, 500)}, {receive(0, 500)}}),
            (Times{600, 1650}));
}

TEST(Simulator, TheCurveIsThatOfThePlaceOfTheTwoRanks) {
  Machine machine = with_curve();
  machine.curves.push_back({machine::Place::core, {{0, 1000, 7e-6, 0}}});
  Placement node = placement::block(1, 3);
  node.set_places({{0, 1, 0}, {0, 1, 0}, {1, 1, 0}});
  EXPECT_EQ(finish(node, machine, {{send(1, 100)}, {receive(0, 100)}, {}})[1], 7000);
  EXPECT_EQ(finish(node, machine, {{send(2, 100)}, {}, {receive(0, 100)}})[2], 1200);
}

TEST(Simulator, InsideANodeASmallMessageOvertakesNoneOfItsPair) {
  Machine machine = with_curve();
  machine.curves[0].pieces = {{0, 10, 1e-6, 0}, {10, 1000, 9e-6, 0}};
  const Placement node = placement::block(1, 3);
  // Rank 2's small message is there long before rank 0's, which keep their order: a mismatch of
  // sizes would say if not.
  const auto times = finish(node, machine,
                            {{send(1, 900), send(1, 5)},
                             {receive(2, 5), receive(0, 900, 1), receive(0, 5, 1), wait(0)},
                             {send(1, 5)}});
  ASSERT_EQ(times.size(), 3u);
  EXPECT_GE(times[1], 9000);
}

TEST(Simulator, NamesWhatIsWrong) {
  const Placement two = placement::block(2, 1);
  const auto code = [&](const std::vector<Steps>& steps, int window = 0) {
    const auto outcome = run(two, plain(), steps, window);
    return outcome ? 0 : outcome.error().code;
  };
  EXPECT_EQ(code({{receive(1, 5)}, {}}), EDEADLK);
  EXPECT_EQ(code({{send(1, 5)}, {}}), EPROTO);
  EXPECT_EQ(code({{send(1, 5000)}, {}}), EDEADLK);
  EXPECT_EQ(code({{send(1, 5)}, {receive(0, 6)}}), EMSGSIZE);
  EXPECT_EQ(code({{send(1, 5000)}, {receive(0, 6)}}), EMSGSIZE);
  EXPECT_EQ(code({{send(2, 5)}, {}}), EINVAL);
  EXPECT_EQ(code({{receive(1, -1)}, {}}), EINVAL);
  EXPECT_EQ(code({{}}), EINVAL);
  // Both send to each other by rendezvous with a window of one before they post their receives.
  const std::vector<Steps> crossed = {{send(1, 5000), send(1, 5000), receive(1, 5000)},
                                      {send(0, 5000), receive(0, 5000), receive(0, 5000)}};
  EXPECT_EQ(code(crossed), 0);
  EXPECT_EQ(code({{send(1, 5000), send(1, 5000), receive(1, 5000), receive(1, 5000)},
                  {send(0, 5000), send(0, 5000), receive(0, 5000), receive(0, 5000)}},
                 1),
            EDEADLK);
}

}  // namespace
}  // namespace haichi::sim
