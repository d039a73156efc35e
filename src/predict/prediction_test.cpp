#include "predict/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "record/read_record.h"

namespace haichi::predict {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Two ranks on two nodes play ping-pong a thousand times with 1,000 bytes, and compute 1 us before
// each send.
constexpr const char* kPingPong =
    R"({"kind":"record","schema":"haichi.record/1","by":"t","started":"","program":["p"],"abi":"openmpi","ranks":2,"placement":{"schema":"haichi.placement/1","nodes":[{"name":"a","ranks":"0"},{"name":"b","ranks":"1"}]},"signature":{},"sync":false,"sequence":true}
{"kind":"communicator","id":0,"name":"MPI_COMM_WORLD","members":"0-1"}
{"kind":"sequence","rank":0,"cut":false,"events":[{"call":"MPI_Send","bytes":1000,"comm":0,"peer":1,"tag":3,"compute_s":1e-6,"took_s":0},{"call":"MPI_Recv","bytes":1000,"comm":0,"peer":1,"tag":3,"compute_s":0,"took_s":0}],"program":[[1000,[0,1]]]}
{"kind":"sequence","rank":1,"cut":false,"events":[{"call":"MPI_Recv","bytes":1000,"comm":0,"peer":0,"tag":3,"compute_s":0,"took_s":0},{"call":"MPI_Send","bytes":1000,"comm":0,"peer":0,"tag":3,"compute_s":1e-6,"took_s":0}],"program":[[1000,[0,1]]]}
{"kind":"end","ranks":2,"calls":4000}
)";
constexpr const char* kMachine = R"({"schema":"haichi.machine/2","name":"m","source":"measured",
  "numbers":{"send_ns":{"value":0,"from":"t"},"match_ns":{"value":0,"from":"t"},"eager_bytes":{"value":1e6,"from":"t"},"copy_gbs":{"value":1e9,"from":"t"}},
  "curves":[{"name":"ping-pong","place":"network","bytes":[0,1000,2000],"seconds":[1e-6,2e-6,3e-6],"low":[1e-6,1.9e-6,3e-6],"high":[1e-6,2.2e-6,3e-6],
    "pieces":[{"from":0,"to":2000,"latency_s":1.0e-6,"s_per_byte":1.1e-9}]},
   {"name":"ping-pong","place":"node","bytes":[0,2000],"seconds":[0.5e-6,0.5e-6],"pieces":[{"from":0,"to":2000,"latency_s":0.5e-6,"s_per_byte":0}]}]})";

record::Record record_of(std::string text) {
  std::istringstream in(std::move(text));
  auto record = record::read_record(in);
  EXPECT_TRUE(record) << record.error().text;
  return *std::move(record);
}

machine::Profile profile() {
  auto profile = machine::parse_profile(kMachine);
  EXPECT_TRUE(profile) << profile.error().text;
  return *std::move(profile);
}

TEST(Prediction, HasTheIntervalOfTheMachine) {
  const auto found = predict(record_of(kPingPong), profile());
  ASSERT_TRUE(found) << found.error().text;
  // 2,000 times 1 us of computing and 2 us of a message.
  EXPECT_NEAR(sim::seconds(found->outcome.end()), 6e-3, 1e-9);
  EXPECT_NEAR(found->low_s, 5.8e-3, 1e-9);
  EXPECT_NEAR(found->high_s, 6.4e-3, 1e-9);
  EXPECT_TRUE(found->has_interval);
  EXPECT_TRUE(found->outcome.problems.empty());
}

TEST(Prediction, OfAnotherPlacement) {
  const auto found =
      predict(record_of(kPingPong), profile(), {.placement = placement::block(1, 2)});
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_NEAR(sim::seconds(found->outcome.end()), 3e-3, 1e-9);
  const auto wrong =
      predict(record_of(kPingPong), profile(), {.placement = placement::block(3, 1)});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text, "the placement is of 3 ranks, and the record of 2");
}

TEST(Prediction, OfNodesThatSitFarApart) {
  machine::Profile torus = profile();
  torus.machine.network = "torus:8";
  ASSERT_TRUE(set_field(torus.machine, "hop_ns", 100));
  auto far = placement::block(2, 1);
  far.set_node_addresses({"0", "4"});
  const auto found = predict(record_of(kPingPong), torus, {.placement = far});
  ASSERT_TRUE(found) << found.error().text;
  // Four links of 100 ns for each of 2,000 messages.
  EXPECT_NEAR(sim::seconds(found->outcome.end()), 6.8e-3, 1e-9);
  far.set_node_addresses({"0", "9"});
  EXPECT_FALSE(predict(record_of(kPingPong), torus, {.placement = far}));
}

TEST(Prediction, OfAFasterProcessor) {
  const auto found = predict(record_of(kPingPong), profile(), {.compute_scale = 0.5});
  ASSERT_TRUE(found) << found.error().text;
  EXPECT_NEAR(sim::seconds(found->outcome.end()), 5e-3, 1e-9);
}

TEST(Prediction, OfAnotherAlgorithm) {
  // Four ranks on four nodes: ten all-to-alls of 1,000 bytes to each other.
  std::string text =
      R"({"kind":"record","schema":"haichi.record/1","by":"t","started":"","program":["p"],"abi":"openmpi","ranks":4,"placement":{"schema":"haichi.placement/1","nodes":[{"name":"a","ranks":"0"},{"name":"b","ranks":"1"},{"name":"c","ranks":"2"},{"name":"d","ranks":"3"}]},"signature":{},"sync":false,"sequence":true}
{"kind":"communicator","id":0,"name":"MPI_COMM_WORLD","members":"0-3"}
)";
  for (int rank = 0; rank < 4; ++rank)
    text += fmt::format(
        R"({{"kind":"sequence","rank":{},"cut":false,"events":[{{"call":"MPI_Alltoall","bytes":1000,"comm":0}}],"program":[[10,[0]]]}}
)",
        rank);
  text += R"({"kind":"end","ranks":4,"calls":40})"
          "\n";
  const auto with = [&](std::string_view name) {
    const auto found =
        predict(record_of(text), profile(), {.exchange = *collectives::parse_candidate(name)});
    EXPECT_TRUE(found) << found.error().text;
    return *found;
  };
  const auto ring = with("ring"), bruck = with("bruck(2)");
  // A ring has a message in each of three rounds, Bruck's one of two blocks in each of two.
  EXPECT_NEAR(sim::seconds(ring.outcome.end()), 10 * 3 * 2e-6, 1e-9);
  EXPECT_NEAR(sim::seconds(bruck.outcome.end()), 10 * 2 * 3e-6, 1e-9);
  EXPECT_TRUE(ring.has_interval);
  EXPECT_LE(ring.low_s, sim::seconds(ring.outcome.end()));
  EXPECT_EQ(ring.outcome.messages, 10 * 4 * 3);
  EXPECT_EQ(bruck.outcome.messages, 10 * 4 * 2);
}

TEST(Prediction, SaysWhatARecordLacks) {
  std::string text = kPingPong;
  const size_t second = text.find("{\"kind\":\"sequence\",\"rank\":1");
  text.resize(second);
  const auto found = predict(record_of(text), profile());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().text,
            "the record has no sequence of rank 1: record the program with --sequence");
  machine::Profile bare;
  const auto bare_found = predict(record_of(kPingPong), bare);
  ASSERT_TRUE(bare_found);
  EXPECT_FALSE(bare_found->has_interval);
  EXPECT_THAT(bare_found->notes, Contains(HasSubstr("no curve of messages between nodes")));
  EXPECT_THAT(bare_found->notes,
              Contains("by the machine's numbers alone, for want of a curve: MPI_Send"));
}

}  // namespace
}  // namespace haichi::predict
