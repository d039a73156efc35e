#include "topology/shape.h"

#include <gtest/gtest.h>

namespace haichi::topology {
namespace {

TEST(Shape, ReadsWhatItNames) {
  EXPECT_EQ(parse_shape("crossbar")->kind, Shape::Kind::crossbar);
  const Shape tree = *parse_shape("fattree:18:4");
  EXPECT_EQ(tree.kind, Shape::Kind::fat_tree);
  EXPECT_EQ(tree.per_switch, 18);
  EXPECT_EQ(tree.ups, 4);
  EXPECT_EQ(parse_shape("fattree:2:16")->ups, 1);
  const Shape tofu = *parse_shape("torus:24x23x24x2x3x2");
  EXPECT_EQ(tofu.kind, Shape::Kind::torus);
  EXPECT_EQ(tofu.extents, (std::vector<int>{24, 23, 24, 2, 3, 2}));
  EXPECT_EQ(tofu.places(), 158976);
  EXPECT_EQ(parse_shape("mesh:7")->kind, Shape::Kind::mesh);
}

TEST(Shape, ReadsDragonflies) {
  const Shape plain = *parse_shape("dragonfly:4:8:4");
  EXPECT_EQ(plain.kind, Shape::Kind::dragonfly);
  EXPECT_EQ(plain.extents, (std::vector<int>{33, 8, 4}));
  EXPECT_EQ(plain.places(), 33 * 8 * 4);
  EXPECT_FALSE(plain.adaptive);
  EXPECT_FALSE(plain.box());
  const Shape plus = *parse_shape("dragonfly+:16:16:16:16:40:adaptive");
  EXPECT_EQ(plus.extents, (std::vector<int>{40, 16, 16}));
  EXPECT_EQ(plus.spines, 16);
  EXPECT_TRUE(plus.adaptive);
  EXPECT_TRUE(parse_shape("fattree:4:2:adaptive")->adaptive);
}

TEST(Shape, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "star",
                           "crossbar:2",
                           "fattree",
                           "fattree:4",
                           "fattree:0:1",
                           "fattree:4:0.5",
                           "fattree:4:x",
                           "torus",
                           "torus:",
                           "mesh:4x",
                           "mesh:0x9",
                           "mesh:99999x99999",
                           "torus:4x-1",
                           "mesh:4:4",
                           "mesh:4:adaptive",
                           "dragonfly",
                           "dragonfly:4:8",
                           "dragonfly:4:8:0",
                           "dragonfly:4:8:4:34",
                           "dragonfly:4:8:4:33:1",
                           "dragonfly+:4:8:4",
                           "dragonfly:4:8:adaptive",
                           "dragonfly:4096:4096:4096",
                           "dragonfly:1048576:1048576:8388608",
                           "dragonfly:1:4096:16777216:2"}) {
    const auto shape = parse_shape(text);
    ASSERT_FALSE(shape) << text;
    EXPECT_EQ(shape.error().code, EINVAL);
  }
}

TEST(Shape, ATorusGoesTheShorterWayAndUpIfBothAreEqual) {
  EXPECT_EQ(steps_along(false, 5, 0, 4), 4);
  EXPECT_EQ(steps_along(false, 5, 4, 0), -4);
  EXPECT_EQ(steps_along(true, 5, 0, 4), -1);
  EXPECT_EQ(steps_along(true, 5, 4, 0), 1);
  EXPECT_EQ(steps_along(true, 5, 0, 2), 2);
  EXPECT_EQ(steps_along(true, 5, 0, 3), -2);
  EXPECT_EQ(steps_along(true, 4, 0, 2), 2);
  EXPECT_EQ(steps_along(true, 4, 2, 0), 2);
  EXPECT_EQ(steps_along(true, 1, 0, 0), 0);
}

}  // namespace
}  // namespace haichi::topology
