// That the predictions come near what the simulator says is tests/cli/test_pruning.py's to show.
#include "collectives/model.h"

#include <gmock/gmock.h>

namespace haichi::collectives {
namespace {

using placement::Placement;
using testing::HasSubstr;

constexpr double kNothing = 1e30;  // a bandwidth at which bytes take no time

// Messages cost L + M/B and nothing else, as in paper 004.
Costs hockney() {
  Costs costs;
  costs.latency = 2e-6;
  costs.hop = costs.send = costs.receive = 0;
  costs.copy = kNothing;
  costs.eager_bytes = kNothing;
  costs.port = costs.link = 1e9;
  return costs;
}

double seconds(const char* candidate, const Placement& placement, const char* network,
               const Costs& costs, int64_t block) {
  auto traffic = *Traffic::make(placement, *topology::parse_shape(network));
  return predict(*parse_candidate(candidate), traffic, costs, block).total();
}

TEST(Model, WhereMessagesCostNothingElseItIsTable1) {
  const Placement nodes = placement::block(64, 1);
  const double latency = 2e-6;
  for (const int64_t block : {0, 1000, 1 << 20}) {
    const double wire = double(block) / 1e9;
    const auto time = [&](const char* text) {
      return seconds(text, nodes, "crossbar", hockney(), block);
    };
    EXPECT_DOUBLE_EQ(time("ring"), 63 * (latency + wire));
    EXPECT_DOUBLE_EQ(time("ring_one_barrier"), 63 * (latency + wire) + 6 * latency);
    EXPECT_DOUBLE_EQ(time("ring_mpi_barrier"), 63 * (latency + wire) + 63 * 6 * latency);
    EXPECT_DOUBLE_EQ(time("ring_light_barrier"), 63 * (latency + wire) + 63 * latency);
    EXPECT_DOUBLE_EQ(time("bruck(2)"), 6 * latency + 64 * wire * 6 / 2);
    // Table 1 charges (P-1) L here, as if no message was under way beside another.
    EXPECT_DOUBLE_EQ(time("spread"), latency + 63 * wire);
  }
}

TEST(Model, ALargerRadixHasFewerStepsAndMoreMessages) {
  Costs costs = hockney();
  const Placement nodes = placement::block(64, 1);
  const auto time = [&](const char* text) { return seconds(text, nodes, "crossbar", costs, 8); };
  EXPECT_LT(time("bruck(8)"), time("bruck(4)"));
  EXPECT_LT(time("bruck(4)"), time("bruck(2)"));
  costs.send = 1e-5;
  EXPECT_GT(time("bruck(8)"), time("bruck(2)"));
}

TEST(Model, InsideANodeTheCurveCountsWhereThereIsOne) {
  machine::Machine machine;
  const Placement node = placement::block(1, 4);
  const auto time = [&](int64_t block) {
    return seconds("ring", node, "crossbar", Costs(machine), block);
  };
  const double before = time(1 << 16);
  machine.curves = {{machine::Place::numa, {{0, 1000, 1e-6, 1e-9}, {1001, 1e6, 1e-5, 2e-9}}}};
  const double own = (1 << 16) / (machine.copy_gbs * 1e9);  // a rank's own block
  EXPECT_NEAR(time(1 << 16), 3 * (1e-5 + 2e-9 * (1 << 16)) + own, 1.5e-6);
  EXPECT_NE(time(1 << 16), before);
  machine.curves[0].place = machine::Place::network;
  EXPECT_EQ(time(1 << 16), before);
}

TEST(Model, TheFullestLinkBoundsWhatIsSentAtOnce) {
  const Costs costs = hockney();
  const Placement nodes = placement::block(8, 1);
  EXPECT_DOUBLE_EQ(seconds("spread", nodes, "mesh:8", costs, 1000000), 2e-6 + 16 * 1e-3);
  EXPECT_DOUBLE_EQ(seconds("ring", nodes, "mesh:8", costs, 1000000), 7 * 2e-6 + 16 * 1e-3);
  // Bruck's steps go 1, 2 and 4 places, with 4 blocks each.
  EXPECT_DOUBLE_EQ(seconds("bruck(2)", nodes, "mesh:8", costs, 1000000),
                   3 * 2e-6 + 4 * (1 + 2 + 4) * 1e-3);
}

TEST(Model, ACrowdAtTheReceiversCostsOnlyWhoMakesOne) {
  Costs costs = hockney();
  const Placement nodes = placement::block(33, 1);
  const auto time = [&](const char* text) { return seconds(text, nodes, "crossbar", costs, 1000); };
  const double ring = time("ring"), all = time("spread"), four = time("spread(nd_rank_shift,4)");
  costs.incast = 3;
  EXPECT_EQ(time("ring"), ring);
  EXPECT_NEAR(time("spread") - all, 2 * 32e-6, 1e-12);
  EXPECT_NEAR(time("spread(nd_rank_shift,4)") - four, 2 * 32e-6 * 4 / 32, 1e-12);
}

TEST(Model, ARendezvousTakesFourWaysAndAWindowWaitsForThem) {
  Costs costs = hockney();
  costs.eager_bytes = 100;
  const Placement nodes = placement::block(9, 1);
  EXPECT_DOUBLE_EQ(seconds("ring", nodes, "crossbar", costs, 101), 8 * (8e-6 + 101e-9));
  EXPECT_GT(seconds("spread(nd_rank_shift,1)", nodes, "crossbar", costs, 101), 8 * 8e-6);
  EXPECT_LT(seconds("spread", nodes, "crossbar", costs, 101), 2 * 8e-6);
}

TEST(Model, NodeAwareSendsFewMessagesOutOfANode) {
  Costs costs = hockney();
  costs.send = costs.receive = 1e-6;
  const Placement nodes = placement::block(16, 8);
  const auto time = [&](const char* text) { return seconds(text, nodes, "crossbar", costs, 8); };
  EXPECT_LT(time("node_aware(all)"), time("spread") / 3);
  EXPECT_LT(time("node_aware(all)"), time("node_aware(1)"));
}

TEST(Model, EveryCandidateHasATimeOnEveryPlacement) {
  for (const Placement& placement :
       {placement::block(1, 1), placement::block(1, 5), placement::block(2, 1),
        placement::round_robin(3, 4), Placement(std::vector<int>{0, 0, 0, 1, 2, 2, 3})})
    for (const char* network : {"crossbar", "mesh:8", "torus:2x2x2", "fattree:2:2"})
      for (const int64_t block : {0, 1, 70000})
        for (const Candidate& candidate : default_candidates(placement, Kind::all_to_all, true)) {
          const double time = seconds(candidate.text().c_str(), placement, network, {}, block);
          EXPECT_GE(time, 0) << candidate.text();
          EXPECT_LT(time, 1) << candidate.text();
        }
}

std::vector<std::string> kept(const char* network, const std::vector<int>& seats, int64_t block) {
  const Placement placement = placement::block(int(seats.size()), 1);
  auto traffic = *Traffic::make(placement, *topology::parse_shape(network), seats);
  Costs costs;
  costs.send = 1e-7;
  costs.receive = 2e-7;
  const auto candidates = default_candidates(placement, Kind::all_to_all, true);
  const auto verdicts = prune(candidates, traffic, costs, block);
  EXPECT_EQ(verdicts.size(), candidates.size());
  std::vector<std::string> names;
  for (size_t i = 0; i < verdicts.size(); ++i)
    if (verdicts[i].kept) names.push_back(candidates[i].text());
  return names;
}

// Paper 004: the same number of nodes and the same size, and other candidates are left.
TEST(Prune, TheShapeOfTheJobDecides) {
  std::vector<int> compact, line;
  for (int node = 0; node < 96; ++node) {
    compact.push_back(node / 16 * 64 + node / 4 % 4 * 8 + node % 4);  // 6x4x4
    line.push_back(node);
  }
  const auto near = kept("mesh:8x8x8", compact, 64), far = kept("mesh:96", line, 64);
  EXPECT_THAT(near, testing::Contains("bruck(2)"));
  EXPECT_THAT(far, testing::Not(testing::Contains("bruck(2)")));
  EXPECT_THAT(far, testing::Contains("spread(nd_rank_shift,0)"));
}

TEST(Prune, KeepsTheBestAndSaysWhyOthersAreNot) {
  const Placement nodes = placement::block(24, 1);
  auto traffic = *Traffic::make(nodes, *topology::parse_shape("mesh:4x3x2"));
  const std::vector<Candidate> candidates = {*parse_candidate("ring_mpi_barrier"),
                                             *parse_candidate("bruck(4)"),
                                             *parse_candidate("spread")};
  const auto verdicts = prune(candidates, traffic, {}, 8);
  EXPECT_FALSE(verdicts[0].kept);
  EXPECT_THAT(verdicts[0].reason, HasSubstr("times the predicted best, more than 2"));
  EXPECT_TRUE(verdicts[1].kept);
  EXPECT_EQ(verdicts[1].reason, "predicted best");
  EXPECT_DOUBLE_EQ(verdicts[1].terms.total(), verdicts[1].seconds);
  for (const Verdict& each : prune(candidates, traffic, {}, 8, 1e9)) EXPECT_TRUE(each.kept);
  const auto alone = prune(candidates, traffic, {}, 8, 0);
  EXPECT_TRUE(alone[1].kept) << "whatever the factor";
  EXPECT_FALSE(alone[2].kept);
}

}  // namespace
}  // namespace haichi::collectives
