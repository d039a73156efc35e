#include "sim/seating.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace haichi::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

placement::Placement at(std::vector<std::string> addresses) {
  auto placement = placement::block(int(addresses.size()), 1);
  placement.set_node_addresses(std::move(addresses));
  return placement;
}

machine::Machine torus() {
  machine::Machine machine;
  machine.network = "torus:4x4";
  return machine;
}

TEST(Seating, ByTheAddressesOfThePlacement) {
  machine::Machine machine = torus();
  ASSERT_TRUE(seat_nodes(machine, at({"0,0", "3,1", "2,2"})));
  EXPECT_THAT(machine.seats, ElementsAre(0, 13, 10));
}

TEST(Seating, TheMachinesOwnSeatsGoFirst) {
  machine::Machine machine = torus();
  machine.seats = {5, 6};
  ASSERT_TRUE(seat_nodes(machine, at({"0,0", "3,1"})));
  EXPECT_THAT(machine.seats, ElementsAre(5, 6));
}

TEST(Seating, IsLeftAloneWhereAddressesAreMissingOrTellNothing) {
  machine::Machine machine = torus();
  ASSERT_TRUE(seat_nodes(machine, at({"0,0", ""})));
  EXPECT_THAT(machine.seats, IsEmpty());
  machine.network = "crossbar";
  ASSERT_TRUE(seat_nodes(machine, at({"anything", "else"})));
  EXPECT_THAT(machine.seats, IsEmpty());
}

TEST(Seating, AnAddressThatIsNoPlaceIsNamed) {
  machine::Machine machine = torus();
  const auto done = seat_nodes(machine, at({"0,0", "4,0"}));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().text, HasSubstr("the address \"4,0\" of node 1"));
}

}  // namespace
}  // namespace haichi::sim
