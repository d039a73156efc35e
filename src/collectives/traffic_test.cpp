#include "collectives/traffic.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace haichi::collectives {
namespace {

using placement::Placement;

Traffic traffic(const Placement& placement, const char* network, std::vector<int> seats = {}) {
  return *Traffic::make(placement, *topology::parse_shape(network), seats);
}

TEST(Traffic, PortsAreSharedByTheRanksOfANode) {
  const Placement block = placement::block(4, 3), dealt = placement::round_robin(4, 3);
  Traffic blocks = traffic(block, "crossbar"), round = traffic(dealt, "crossbar");
  EXPECT_EQ(blocks.uniform().ports, 3 * 9);
  EXPECT_EQ(blocks.uniform().links, 0);
  EXPECT_EQ(blocks.most_on_a_node(), 3);
  EXPECT_EQ(blocks.shift(1).ports, 1);  // the last rank of each node to the first of the next
  EXPECT_EQ(round.shift(1).ports, 3);
  EXPECT_EQ(round.shift(4).ports, 0);  // the same node
  const Placement unequal(std::vector<int>{0, 0, 0, 1, 2});
  EXPECT_EQ(traffic(unequal, "crossbar").uniform().ports, 3 * 2);
}

TEST(Traffic, LinksAreSharedByWhoeverCrossesThem) {
  const Placement line = placement::block(8, 1);
  Traffic mesh = traffic(line, "mesh:8"), torus = traffic(line, "torus:8");
  EXPECT_EQ(mesh.shift(1).links, 1);  // 7 to 0 goes down by itself
  EXPECT_EQ(mesh.shift(1).hops, 7);
  EXPECT_EQ(torus.shift(1).hops, 1);
  EXPECT_EQ(mesh.shift(4).links, 4);
  EXPECT_EQ(mesh.uniform().links, 16);
  EXPECT_DOUBLE_EQ(mesh.steps().links, (1 + 2 + 3 + 4 + 3 + 2 + 1) / 7.0);
  // Formula (3) of paper 004 takes the worst step, 2/8, for all of them; over the exchange the
  // link carries 16 messages while each rank sends 7.
  EXPECT_DOUBLE_EQ(mesh.contention(), 7.0 / 16);
  EXPECT_EQ(traffic(line, "crossbar").contention(), 1);
  EXPECT_EQ(traffic(placement::block(1, 1), "mesh:1").contention(), 1);
}

TEST(Traffic, WhereTheJobSitsMatters) {
  const Placement four = placement::block(4, 1);
  EXPECT_EQ(traffic(four, "mesh:4x4", {0, 1, 2, 3}).uniform().links, 4);
  EXPECT_EQ(traffic(four, "mesh:4x4", {0, 1, 4, 5}).uniform().links, 2);
  EXPECT_EQ(traffic(four, "torus:8", {7, 0, 6, 1}).uniform().links, 4);
}

TEST(Traffic, RefusesSeatsThatAreNone) {
  const Placement four = placement::block(4, 1);
  const auto code = [&](const char* network, std::vector<int> seats) {
    const auto made = Traffic::make(four, *topology::parse_shape(network), seats);
    return made ? 0 : made.error().code;
  };
  EXPECT_EQ(code("mesh:4", {}), 0);
  EXPECT_EQ(code("mesh:3", {}), EINVAL);
  EXPECT_EQ(code("mesh:8", {0, 1, 2}), EINVAL);
  EXPECT_EQ(code("mesh:8", {0, 1, 2, 8}), EINVAL);
  EXPECT_EQ(code("mesh:8", {0, 1, 2, -1}), EINVAL);
}

}  // namespace
}  // namespace haichi::collectives
