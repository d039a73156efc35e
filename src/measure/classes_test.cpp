#include "measure/classes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace haichi::measure {
namespace {

using placement::Placement;
using placement::RankPlace;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const Placement& placement, const std::vector<int>& cores = {}) {
  std::vector<std::string> result;
  for (const Pair& pair : pairs_by_class(placement, cores))
    result.push_back(fmt::format("{} {}-{}", pair.name, pair.first, pair.second));
  return result;
}

TEST(PairsByClass, WithoutBindingsThereAreNodesAndTheNetwork) {
  EXPECT_THAT(texts(placement::block(1, 1)), IsEmpty());
  EXPECT_THAT(texts(placement::block(1, 4)), ElementsAre("node 0-1"));
  EXPECT_THAT(texts(placement::block(4, 1)), ElementsAre("network 0-1"));
  EXPECT_THAT(texts(placement::block(2, 2)), ElementsAre("node 0-1", "network 0-2"));
  EXPECT_THAT(texts(placement::round_robin(2, 2)), ElementsAre("node 0-2", "network 0-1"));
}

TEST(PairsByClass, ANodeOtherThanTheFirstMayHaveThePair) {
  EXPECT_THAT(texts(Placement(std::vector<int>{0, 1, 1})), ElementsAre("node 1-2", "network 0-1"));
}

TEST(PairsByClass, BindingsTellCoresAndNumaNodes) {
  Placement placement = placement::block(1, 4);
  placement.set_places({{0, 1, 0}, {1, 1, 0}, {0, 1, 0}, {8, 1, 1}});
  const std::vector<int> cores(4, 16);
  EXPECT_THAT(texts(placement, cores), ElementsAre("core 0-2", "numa 0-1", "node 0-3"));
}

TEST(PairsByClass, ARankThatMayRunEverywhereIsNotBound) {
  Placement placement = placement::block(1, 2);
  placement.set_places({{0, 2, 0}, {0, 2, 0}});
  EXPECT_THAT(texts(placement, {2, 2}), ElementsAre("node 0-1"));
  placement.set_places({{0, 1, 0}, {0, 1, 0}});  // a machine of one core
  EXPECT_THAT(texts(placement, {1, 1}), ElementsAre("node 0-1"));
}

TEST(PairsByClass, AMillionPairsAreNotLookedAt) {
  EXPECT_THAT(texts(placement::block(20'000, 4)), ElementsAre("node 0-1", "network 0-4"));
}

}  // namespace
}  // namespace haichi::measure
