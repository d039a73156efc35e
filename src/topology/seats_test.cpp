#include "topology/seats.h"

#include <gmock/gmock.h>

namespace haichi::topology {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Addresses = std::vector<std::string>;

Result<std::vector<int>> seats(const char* shape, const Addresses& addresses) {
  return seats_of(*parse_shape(shape), addresses);
}

TEST(Seats, OfATorusAreCoordinatesFirstDimensionFirst) {
  EXPECT_THAT(*seats("torus:4x3x2", {"0,0,0", "0,0,1", "0,1,0", "3,2,1"}),
              ElementsAre(0, 1, 2, 23));
  EXPECT_THAT(*seats("mesh:5", {"4", "0"}), ElementsAre(4, 0));
}

TEST(Seats, OfADragonflyAreGroupRouterAndPlace) {
  EXPECT_THAT(*seats("dragonfly:2:4:2", {"0,0,1", "1,0,0", "8,3,1"}), ElementsAre(1, 8, 71));
}

TEST(Seats, BelowOneSwitchAreSideBySide) {
  EXPECT_THAT(*seats("fattree:4:2", {"s0.s2.n7", "s0.s1.n3", "s0.s2.n9", "s0.s1.n1"}),
              ElementsAre(0, 4, 1, 5));
}

TEST(Seats, MayBeGivenByNumber) {
  EXPECT_THAT(*seats("torus:4x4", {"15", "2"}), ElementsAre(15, 2));
  EXPECT_THAT(*seats("fattree:4:2", {"9", "0"}), ElementsAre(9, 0));
}

TEST(Seats, OfACrossbarAreAllAlike) {
  EXPECT_THAT(*seats("crossbar", {"a", "a", ""}), ElementsAre(0, 1, 2));
}

TEST(Seats, ThatMakeNoSenseAreNamed) {
  for (const char* wrong : {"", "0,0", "0,0,2", "-1,0,0", "x", "0,0,0,0", "24", "-1"}) {
    const auto none = seats("torus:4x3x2", {"0,0,1", wrong});
    ASSERT_FALSE(none) << wrong;
    EXPECT_THAT(none.error().text, HasSubstr("of node 1 is no place"));
    EXPECT_THAT(none.error().text, HasSubstr("below 4x3x2, as in 0,0,0"));
  }
  EXPECT_THAT(seats("torus:2x2", {"1,1", "3"}).error().text, HasSubstr("nodes 0 and 1"));
  EXPECT_THAT(seats("fattree:1:1", {"s.a", "s.b"}).error().text, HasSubstr("at most 1 nodes"));
}

}  // namespace
}  // namespace haichi::topology
