// Times worked out by hand: 1 ns a byte on the ports, 2 ns on the servers.
#include "sim/storage.h"

#include <gtest/gtest.h>

#include "sim/simulator.h"
#include "support/list_schedule.h"

namespace haichi::sim {
namespace {

using placement::Placement;
using plan::Step;
using test::file_read_step;
using test::file_wait_step;
using test::file_write_step;
using test::ListSchedule;
using Steps = std::vector<Step>;
using Times = std::vector<int64_t>;

Machine plain() {
  Machine machine;
  machine.send_ns = 100;
  machine.receive_ns = 10;
  machine.match_ns = 50;
  machine.copy_gbs = 1e9;
  machine.out_gbs = machine.in_gbs = machine.storage_gbs = 1;
  machine.latency_ns = 1000;
  machine.servers = 2;
  machine.stripe_bytes = 1000;
  machine.server_gbs = 0.5;
  machine.request_us = 0.3;
  return machine;
}

Step write(int64_t begin, int64_t bytes) { return file_write_step({0, 0, bytes}, begin); }
Step read(int64_t begin, int64_t bytes) { return file_read_step({0, 0, bytes}, begin); }
Step copy(int64_t bytes) { return test::copy_step({0, 0, bytes}, {1, 0, bytes}); }

Result<Outcome> run(const Placement& placement, const Machine& machine,
                    const std::vector<Steps>& steps, Observer* observer = nullptr) {
  std::vector<ListSchedule> lists;
  for (const Steps& each : steps) lists.emplace_back(each);
  std::vector<plan::Schedule*> schedules;
  for (ListSchedule& each : lists) schedules.push_back(&each);
  return simulate(placement, machine, schedules, {.observer = observer});
}

// Nanoseconds at which each rank is done.
Times finish(const Placement& placement, const Machine& machine, const std::vector<Steps>& steps) {
  const auto outcome = run(placement, machine, steps);
  if (!outcome) ADD_FAILURE() << outcome.error().text;
  Times times;
  if (outcome)
    for (const Time each : outcome->finish) times.push_back(each / kNanosecond);
  return times;
}

Times alone(const Steps& steps, const Machine& machine = plain()) {
  return finish(placement::block(1, 1), machine, {steps});
}

TEST(Storage, OneRequest) {
  // The first byte is at the server at 1000, which is ready at 1300 and has all at 3300.
  EXPECT_EQ(alone({write(0, 1000)}), Times{4300});
  EXPECT_EQ(alone({read(0, 1000)}), Times{4300});
  EXPECT_EQ(alone({write(7, 0)}), Times{0});
  // Where the port is the slower one, the last byte comes late: out at 4000, there at 5000.
  Machine slow = plain();
  slow.storage_gbs = 0.25;
  EXPECT_EQ(alone({write(0, 1000)}, slow), Times{6000});
  // Read: the first byte is back at 2300.
  EXPECT_EQ(alone({read(0, 1000)}, slow), Times{6300});
}

TEST(Storage, ATransferIsCutAtTheStripes) {
  // Server 0: 1300 to 3300, and the rest that came at 3000: 3600 to 4600. Server 1: 2300 to 4300.
  EXPECT_EQ(alone({write(0, 2500)}), Times{5600});
  // 500 bytes to server 1, and 500 that leave behind them to server 0: 1800 to 2800.
  EXPECT_EQ(alone({write(1500, 1000)}), Times{3800});
  // Both servers at a time: both are done at 3300, and the port takes one after the other.
  EXPECT_EQ(alone({read(0, 2000)}), Times{4300});
  Machine slow = plain();
  slow.storage_gbs = 0.25;
  EXPECT_EQ(alone({read(0, 2000)}, slow), Times{2300 + 8000});
}

TEST(Storage, AServerTakesOneRequestAfterTheOther) {
  const Placement two = placement::block(2, 1);
  EXPECT_EQ(finish(two, plain(), {{write(0, 1000)}, {write(0, 1000)}}), (Times{4300, 6600}));
  EXPECT_EQ(finish(two, plain(), {{write(0, 1000)}, {write(1000, 1000)}}), (Times{4300, 4300}));
  EXPECT_EQ(finish(two, plain(), {{read(0, 1000)}, {read(0, 1000)}}), (Times{4300, 6600}));
}

TEST(Storage, HandingOverTakesTimeIfOneOfTheNodesWrites) {
  Machine machine = plain();
  machine.handover_us = 0.7;
  const Placement two = placement::block(2, 1), one = placement::block(1, 2);
  EXPECT_EQ(finish(two, machine, {{write(0, 1000)}, {write(0, 1000)}}), (Times{4300, 7300}));
  EXPECT_EQ(finish(two, machine, {{write(0, 1000)}, {read(0, 1000)}}), (Times{4300, 7300}));
  EXPECT_EQ(finish(two, machine, {{read(0, 1000)}, {read(0, 1000)}}), (Times{4300, 6600}));
  // Of one node: the second leaves at 1000 and waits for the server.
  EXPECT_EQ(finish(one, machine, {{write(0, 1000)}, {write(0, 1000)}}), (Times{4300, 6600}));
}

TEST(Storage, MayHaveAPortOfItsOwn) {
  const Placement two = placement::block(2, 1);
  const std::vector<Steps> steps = {{write(0, 1000), test::send_step(1, {0, 0, 500})},
                                    {test::receive_step(0, {1, 0, 500})}};
  EXPECT_EQ(finish(two, plain(), steps)[1], 1650);
  Machine shared = plain();
  shared.storage_gbs = 0;
  EXPECT_EQ(finish(two, shared, steps)[1], 2550);  // the message leaves behind the file's bytes
}

TEST(Storage, ARankMovesItsBytesOneAfterTheOther) {
  Machine slow = plain();
  slow.client_gbs = 0.25;
  // Out of the rank at 4000, at the server at 5000.
  EXPECT_EQ(alone({write(0, 1000)}, slow), Times{6000});
  // The first byte is back at 2300.
  EXPECT_EQ(alone({read(0, 1000)}, slow), Times{6300});
  EXPECT_EQ(alone({read(0, 2000)}, slow), Times{2300 + 8000});
  // Each rank of a node at its own rate, to a server each.
  EXPECT_EQ(finish(placement::block(1, 2), slow, {{write(0, 1000)}, {write(1000, 1000)}}),
            (Times{6000, 6000}));
  // A second one begins when the first is complete.
  EXPECT_EQ(alone({write(0, 1000), write(1000, 1000)}, slow), Times{12000});
}

TEST(Storage, ATransferGoesOnUntilItIsWaitedFor) {
  Machine machine = plain();
  machine.copy_gbs = 1;
  EXPECT_EQ(alone({write(0, 1000), copy(700), file_wait_step(), copy(100)}, machine), Times{4400});
  EXPECT_EQ(alone({write(0, 1000), copy(9000), file_wait_step(), copy(100)}, machine), Times{9100});
  EXPECT_EQ(alone({write(0, 1000), copy(700)}, machine), Times{4300});
  EXPECT_EQ(alone({copy(500), write(0, 1000)}, machine), Times{4800});
  EXPECT_EQ(alone({file_wait_step(), copy(500)}, machine), Times{500});
  // A second one of the rank begins when the first is complete.
  EXPECT_EQ(alone({read(0, 1000), write(0, 1000), copy(10)}, machine), Times{8600});
}

TEST(Storage, AnObserverSeesEveryAccess) {
  struct Accesses : Observer {
    void accessed(const AccessRecord& record) override { seen.push_back(record); }
    std::vector<AccessRecord> seen;
  } accesses;
  const auto outcome = run(placement::block(1, 1), plain(),
                           {{test::round_step(3), read(0, 1000), write(0, 1000)}}, &accesses);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->file_bytes, 2000);
  ASSERT_EQ(accesses.seen.size(), 2u);
  EXPECT_FALSE(accesses.seen[0].writes);
  EXPECT_TRUE(accesses.seen[1].writes);
  EXPECT_EQ(accesses.seen[1].begin, 4300 * kNanosecond);
  EXPECT_EQ(accesses.seen[1].end, 8600 * kNanosecond);
}

TEST(Storage, NamesWhatIsWrong) {
  Machine none = plain();
  none.servers = 0;
  const auto code = [](const Machine& machine, const Step& step) {
    const auto outcome = run(placement::block(1, 1), machine, {{step}});
    return outcome ? 0 : outcome.error().code;
  };
  EXPECT_EQ(code(none, write(0, 1)), ENOTSUP);
  EXPECT_EQ(code(plain(), write(-1, 1)), EINVAL);
  EXPECT_EQ(code(plain(), read(0, -1)), EINVAL);
  EXPECT_EQ(code(plain(), read(INT64_MAX, 1)), EINVAL);
  EXPECT_EQ(code(plain(), read(0, 1)), 0);
  Machine machine;
  EXPECT_TRUE(set_field(machine, "servers", 3));
  EXPECT_FALSE(set_field(machine, "servers", 2.5));
  EXPECT_FALSE(set_field(machine, "stripe_bytes", 0));
}

}  // namespace
}  // namespace haichi::sim
