#include "measure/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/listing.h"
#include "measure/points.h"

namespace haichi::measure {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

std::vector<Measurement> catalogue() {
  std::vector<Measurement> all(4);
  all[0] = {.name = "ping", .group = "p2p", .functions = {"MPI_Send"}, .timed = "Send"};
  all[0].sizes = {4, 64};
  all[0].who = Who::pair;
  all[1] = {.name = "pairs", .group = "p2p", .functions = {"MPI_Send"}};
  all[1].even = true;
  all[2] = {.name = "barrier", .group = "collective", .functions = {"MPI_Barrier"}};
  all[2].least_ranks = 2;
  all[3] = {.name = "dup", .group = "life", .functions = {"MPI_Comm_dup"}};
  return all;
}

std::vector<std::string> names(const std::vector<Measurement>& all,
                               const std::vector<std::string>& words) {
  std::vector<std::string> result;
  const auto chosen = select(all, words);
  EXPECT_TRUE(chosen) << chosen.error().text;
  for (const Chosen& each : *chosen)
    result.push_back(each.measurement->name + (each.by_name ? "!" : ""));
  return result;
}

TEST(Select, TakesGroupsNamesAndFunctions) {
  const auto all = catalogue();
  EXPECT_THAT(names(all, {}), ElementsAre("ping", "pairs", "barrier", "dup"));
  EXPECT_THAT(names(all, {"p2p"}), ElementsAre("ping", "pairs"));
  EXPECT_THAT(names(all, {"dup", "ping"}), ElementsAre("ping!", "dup!"));
  EXPECT_THAT(names(all, {"MPI_Send", "pairs"}), ElementsAre("ping", "pairs!"));
}

TEST(Select, RefusesWhatItDoesNotKnowAndSaysWhatThereIs) {
  const auto all = catalogue();
  const auto chosen = select(all, std::vector<std::string>{"p2p", "pong"});
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().text, HasSubstr("'pong'"));
  EXPECT_THAT(chosen.error().text, HasSubstr("p2p, collective, life"));
}

TEST(Select, ListsEveryChosenOne) {
  const auto all = catalogue();
  const auto chosen = select(all, {});
  EXPECT_THAT(list_as_text(*chosen), HasSubstr("ping                         Send"));
  const auto json = nlohmann::json::parse(list_as_json(*chosen));
  EXPECT_EQ(json.size(), 4u);
  EXPECT_EQ(json[0]["formula"], "sample");
}

std::vector<std::string> keys(const std::vector<Point>& points) {
  std::vector<std::string> result;
  for (const Point& point : points) result.push_back(point.key());
  return result;
}

TEST(PlanPoints, MakesOneForEachPlaceAndSize) {
  const auto all = catalogue();
  const auto chosen = select(all, {});
  const JobShape job{4, {{"node", 0, 1}, {"network", 0, 2}}};
  const Plan plan = plan_points(*chosen, job, {});
  EXPECT_THAT(keys(plan.points), ElementsAre("ping/node/4", "ping/network/4", "ping/node/16",
                                             "ping/network/16", "ping/node/64", "ping/network/64",
                                             "pairs/all/0", "barrier/all/0", "dup/all/0"));
  EXPECT_THAT(plan.left, testing::IsEmpty());
  const Plan asked = plan_points(*chosen, job, std::vector<int64_t>{100});
  EXPECT_THAT(keys(asked.points), ElementsAre("ping/node/100", "ping/network/100", "pairs/all/0",
                                              "barrier/all/0", "dup/all/0"));
}

TEST(PlanPoints, SaysWhatTheJobHasTooFewRanksFor) {
  const auto all = catalogue();
  const auto chosen = select(all, {});
  const Plan alone = plan_points(*chosen, {1, {}}, {});
  EXPECT_THAT(keys(alone.points), ElementsAre("dup/all/0"));
  ASSERT_EQ(alone.left.size(), 3u);
  EXPECT_EQ(alone.left[0].reason, "ping needs 2 ranks or more, and there is 1");
  EXPECT_EQ(alone.left[1].reason, "pairs needs an even number of ranks, and there are 1");
  const Plan three = plan_points(*chosen, {3, {{"node", 0, 1}}}, {});
  ASSERT_EQ(three.left.size(), 1u);
}

TEST(Shuffle, DependsOnTheSeedAloneAndLosesNothing) {
  const auto all = catalogue();
  const auto chosen = select(all, {});
  auto points = plan_points(*chosen, {2, {{"node", 0, 1}}}, {}).points;
  auto again = points, other = points;
  const auto before = keys(points);
  shuffle(points, 1);
  shuffle(again, 1);
  shuffle(other, 2);
  EXPECT_EQ(keys(points), keys(again));
  EXPECT_NE(keys(points), keys(other));
  EXPECT_THAT(keys(points), UnorderedElementsAreArray(before));
}

TEST(PlanPoints, MakesEachWayOnce) {
  auto all = catalogue();
  all[0].start = Start::back_to_back;
  const auto chosen = select(all, std::vector<std::string>{"ping", "barrier"});
  const Variants variants{
      Start::window, {Buffers::hot, Buffers::cold}, {Spacing::isolated, Spacing::back_to_back}};
  const Plan plan = plan_points(*chosen, {2, {{"node", 0, 1}}}, std::vector<int64_t>{8}, variants);
  EXPECT_THAT(keys(plan.points),
              ElementsAre("ping/node/8", "ping/node/8/back to back", "ping/node/8/cold",
                          "barrier/all/0", "barrier/all/0/back to back", "barrier/all/0/cold"));
  EXPECT_EQ(plan.points[0].start, Start::window);
  EXPECT_EQ(plan.points[0].variant(), " isolated");
  EXPECT_TRUE(plan.points[1].usual());
  EXPECT_TRUE(plan.points[3].usual());
  EXPECT_EQ(plan.points[5].variant(), " cold");
}

}  // namespace
}  // namespace haichi::measure
