#include "sim/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "support/random_placement.h"
#include "topology/link_load.h"

namespace haichi::sim {
namespace {

std::unique_ptr<Network> network(const std::string& text, int nodes, std::vector<int> seats = {}) {
  Machine machine;
  machine.network = text;
  machine.seats = std::move(seats);
  auto made = make_network(machine, nodes);
  EXPECT_TRUE(made) << made.error().text;
  return std::move(*made);
}

// Links of the way, without the two ports.
std::vector<int> way(const Network& net, int from, int to) {
  std::vector<int> links;
  for (int link = net.next(net.port_out(from), to); link != net.port_in(to);
       link = net.next(link, to)) {
    links.push_back(link);
    if (links.size() > 1000) ADD_FAILURE() << "no end from " << from << " to " << to;
    if (links.size() > 1000) break;
  }
  EXPECT_EQ(net.next(net.port_in(to), to), -1);
  return links;
}

size_t hops(const Network& net, int from, int to) { return way(net, from, to).size(); }

TEST(Network, ACrossbarHasNothingBetweenPorts) {
  const auto net = network("crossbar", 5);
  EXPECT_EQ(net->links().size(), 10u);
  for (int from = 0; from < 5; ++from)
    for (int to = 0; to < 5; ++to) EXPECT_EQ(hops(*net, from, to), 0u);
}

TEST(Network, AFatTreeGoesUpOnlyBetweenSwitches) {
  const auto net = network("fattree:4:2", 10);  // switches of 4, 4 and 2 nodes; 2 links up each
  EXPECT_EQ(net->links().size(), 20u + 2 * 3 * 2);
  EXPECT_EQ(hops(*net, 0, 3), 0u);
  EXPECT_EQ(hops(*net, 0, 4), 2u);
  EXPECT_EQ(hops(*net, 9, 0), 2u);
  // To different nodes by different links up, to one node always by the same last link.
  EXPECT_NE(way(*net, 0, 4)[0], way(*net, 0, 5)[0]);
  EXPECT_EQ(way(*net, 0, 4)[1], way(*net, 9, 4)[1]);
  EXPECT_NE(way(*net, 0, 4)[0], way(*net, 9, 4)[0]);
}

TEST(Network, AMeshCorrectsTheFirstDimensionFirst) {
  const auto net = network("mesh:4x3", 12);
  EXPECT_EQ(hops(*net, 0, 11), 5u);  // 3 + 2
  EXPECT_EQ(hops(*net, 0, 9), 3u);
  // 0 -> (3, 2) and 0 -> (3, 0) share the links of the first dimension.
  const auto far = way(*net, 0, 11), near = way(*net, 0, 9);
  EXPECT_TRUE(std::equal(near.begin(), near.end(), far.begin()));
}

TEST(Network, ATorusGoesTheShorterWay) {
  const auto net = network("torus:5x4", 20);
  EXPECT_EQ(hops(*net, 0, 16), 1u);  // (4, 0): down by one
  EXPECT_EQ(hops(*net, 0, 12), 2u);  // (3, 0): down by two
  EXPECT_EQ(hops(*net, 0, 2), 2u);   // (0, 2): both ways are equal
  EXPECT_EQ(hops(*net, 0, 3), 1u);
}

// In a box every hop is to a neighbour, so that the hops are the distance and no link comes twice.
TEST(Network, EveryWayOfABoxIsAShortestOne) {
  for (const bool torus : {false, true}) {
    const int shape[] = {3, 4, 2, 5};
    const auto net = network(std::string(torus ? "torus" : "mesh") + ":3x4x2x5", 120);
    for (int from = 0; from < 120; ++from)
      for (int to = 0; to < 120; ++to) {
        size_t distance = 0;
        for (int d = 3, a = from, b = to; d >= 0; a /= shape[d], b /= shape[d], --d) {
          const int apart = std::abs(a % shape[d] - b % shape[d]);
          distance += size_t(torus ? std::min(apart, shape[d] - apart) : apart);
        }
        const auto links = way(*net, from, to);
        ASSERT_EQ(links.size(), distance) << from << " to " << to;
        ASSERT_EQ(std::set<int>(links.begin(), links.end()).size(), distance);
      }
  }
}

TEST(Network, ADragonflyTakesOneLinkBetweenGroups) {
  const auto net = network("dragonfly:2:4:2", 72);  // 9 groups of 4 routers of 2 nodes
  EXPECT_EQ(hops(*net, 0, 1), 0u);                  // one router
  EXPECT_EQ(hops(*net, 0, 7), 1u);                  // one group
  for (int from = 0; from < 72; ++from)
    for (int to = 0; to < 72; ++to) {
      ASSERT_LE(hops(*net, from, to), from / 8 == to / 8 ? 1u : 3u);
      ASSERT_GE(hops(*net, from, to), from / 8 == to / 8 ? 0u : 1u);
    }
  const auto plus = network("dragonfly+:2:3:2:2", 30);  // 5 groups of 3 leaves and 2 spines
  for (int from = 0; from < 30; ++from)
    for (int to = 0; to < 30; ++to)
      ASSERT_EQ(hops(*plus, from, to), from / 2 == to / 2 ? 0u : from / 6 == to / 6 ? 2u : 3u);
}

// Every way that may be chosen comes to its end, over each link once, by at most two links between
// groups; no lane is entered behind a higher one.
TEST(Network, EveryWayOfADragonflyComesToItsEnd) {
  for (const char* text : {"dragonfly:2:4:2:adaptive", "dragonfly+:2:3:2:2:5:adaptive"}) {
    const auto net = network(text, 30);
    EXPECT_TRUE(net->adapts());
    for (int from = 0; from < 30; ++from)
      for (int to = 0; to < 30; ++to)
        for (uint16_t chosen = 0; chosen < 6; ++chosen) {
          std::set<int> seen;
          int lane = 0, link = net->port_out(from);
          while (link != net->port_in(to)) {
            const int next = net->next(link, to, chosen), then = net->lane(lane, link, next);
            ASSERT_TRUE(seen.insert(next).second) << text << ' ' << from << ' ' << to;
            ASSERT_GE(then, next == net->port_in(to) ? 0 : lane);
            ASSERT_LT(then, net->lanes());
            lane = then;
            link = next;
          }
        }
  }
}

// All of group 0 send to group 1, which have one link: by it, the others stand idle.
TEST(Network, ADragonflyThatAdaptsGoesRoundACrowd) {
  class Crowd : public Network::Congestion {
   public:
    explicit Crowd(int full) : full_(full) {}
    Time before(int link) const override { return link == full_ ? 1000 * kNanosecond : 0; }

   private:
    int full_;
  };
  const auto net = network("dragonfly:2:4:2:adaptive", 72);
  const Crowd crowd(way(*net, 0, 8).front());
  int round = 0;
  for (uint64_t draw = 0; draw < 64; ++draw) {
    const uint64_t two = draw << 32 | (draw + 3);
    round += net->choose(0, 8, crowd, two) > 0 ? 1 : 0;
    EXPECT_EQ(net->choose(0, 8, Crowd(-1), two), 0);  // nobody is before the shortest way
    EXPECT_EQ(net->choose(0, 7, crowd, two), 0);      // inside the group
  }
  EXPECT_GT(round, 32);
}

TEST(Network, AJobMayHaveAnyPartOfIt) {
  const auto torus = network("torus:8", 3, {7, 1, 3});
  EXPECT_EQ(hops(*torus, 0, 1), 2u);  // round the end
  EXPECT_EQ(hops(*torus, 1, 0), 2u);
  EXPECT_EQ(hops(*torus, 0, 2), 4u);
  const auto mesh = network("mesh:8", 3, {7, 1, 3});
  EXPECT_EQ(hops(*mesh, 0, 1), 6u);
  const auto tree = network("fattree:4:2", 3, {9, 11, 2});
  EXPECT_EQ(tree->links().size(), 6u + 2 * 3 * 2);
  EXPECT_EQ(hops(*tree, 0, 1), 0u);
  EXPECT_EQ(hops(*tree, 1, 2), 2u);
}

// The loads that topology/link_load.h counts are those of the ways that messages take here, on
// jobs of any form.
TEST(Network, LoadsAreThoseOfWalkingEveryWay) {
  test::Random random(11);
  for (const char* text : {"mesh:7", "torus:7", "torus:8", "mesh:4x3x2", "torus:4x5x3",
                           "torus:3x2x2x2x3x2", "fattree:4:2", "fattree:3:1", "dragonfly:2:4:2",
                           "dragonfly:3:2:2:2", "dragonfly+:2:3:2:2", "dragonfly+:2:2:3:3:4"})
    for (int round = 0; round < 40; ++round) {
      const auto shape = *topology::parse_shape(text);
      std::vector<int> seats(size_t(std::min<int64_t>(shape.places(), 20)));
      std::iota(seats.begin(), seats.end(), 0);
      random.shuffle(seats);
      seats.resize(size_t(random.between(1, int64_t(seats.size()))));
      const int nodes = int(seats.size());
      const auto net = network(text, nodes, seats);
      topology::LinkLoads loads(shape, seats);
      std::vector<int64_t> weights;
      std::vector<topology::Flow> flows;
      for (int node = 0; node < nodes; ++node) {
        weights.push_back(random.between(1, 3));
        flows.push_back({node, int(random.below(nodes)), random.between(1, 5)});
      }
      std::map<int, int64_t> uniform, some;
      size_t longest = 0;
      for (int from = 0; from < nodes; ++from)
        for (int to = 0; to < nodes; ++to)
          for (const int link : way(*net, from, to))
            uniform[link] += weights[size_t(from)] * weights[size_t(to)];
      for (const topology::Flow& flow : flows) {
        for (const int link : way(*net, flow.from, flow.to)) some[link] += flow.messages;
        longest = std::max(longest, hops(*net, flow.from, flow.to));
      }
      const auto most = [](const std::map<int, int64_t>& of) {
        int64_t load = 0;
        for (const auto& [link, messages] : of) load = std::max(load, messages);
        return load;
      };
      ASSERT_EQ(loads.uniform(weights), most(uniform)) << text << ", " << nodes << " nodes";
      for (int again = 0; again < 2; ++again) {
        const topology::PathLoad load = loads.of(flows);
        ASSERT_EQ(load.messages, most(some)) << text << ", " << nodes << " nodes";
        ASSERT_EQ(size_t(load.hops), longest) << text << ", " << nodes << " nodes";
      }
    }
}

TEST(Network, RefusesWhatIsNone) {
  const auto code = [](const char* text, std::vector<int> seats = {}) {
    Machine machine;
    machine.network = text;
    machine.seats = std::move(seats);
    const auto made = make_network(machine, 8);
    return made ? 0 : made.error().code;
  };
  EXPECT_EQ(code("torus:2x4"), 0);
  for (const char* text : {"", "star", "torus:2x2"}) EXPECT_EQ(code(text), EINVAL) << text;
  EXPECT_EQ(code("torus:9", {0, 1, 2, 3, 4, 5, 6, 8}), 0);
  EXPECT_EQ(code("torus:9", {0, 1, 2, 3, 4, 5, 6, 9}), EINVAL);
  EXPECT_EQ(code("torus:9", {0, 1, 2, 3, 4, 5, 6, -1}), EINVAL);
  EXPECT_EQ(code("torus:9", {0, 1, 2, 3, 4, 5, 6, 6}), EINVAL);
  EXPECT_EQ(code("torus:9", {0, 1, 2}), EINVAL);
}

}  // namespace
}  // namespace haichi::sim
