#include "sim/network.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace haichi::sim {
namespace {

std::unique_ptr<Network> network(const std::string& text, int nodes) {
  Machine machine;
  machine.network = text;
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

TEST(Network, RefusesWhatIsNone) {
  for (const char* text : {"", "star", "crossbar:2", "fattree", "fattree:4", "fattree:0:1",
                           "fattree:4:0.5", "fattree:4:x", "torus", "torus:", "mesh:4x", "mesh:0x9",
                           "mesh:99999x99999", "torus:2x2", "torus:4x-1", "mesh:4:4"}) {
    Machine machine;
    machine.network = text;
    const auto made = make_network(machine, 8);
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().code, EINVAL);
  }
}

}  // namespace
}  // namespace haichi::sim
