#include "measure/forecast.h"

#include <gtest/gtest.h>

namespace haichi::measure {
namespace {

class ForecastOfThree : public testing::Test {
 protected:
  Measurement small_{.name = "small"}, large_{.name = "large"}, other_{.name = "other"};
  std::vector<Point> points_{{&small_, "all", {}, 4},  {&large_, "all", {}, 64},
                             {&small_, "all", {}, 64}, {&large_, "all", {}, 4},
                             {&large_, "all", {}, 16}, {&other_, "all", {}, 0}};
  Forecast forecast_{points_};
};

TEST_F(ForecastOfThree, LooksAtTheFirstPointOfEachMeasurement) {
  EXPECT_EQ(forecast_.candidates(), (std::vector<int>{0, 1, 5}));
}

TEST_F(ForecastOfThree, KnowsNothingBeforeAVisit) { EXPECT_EQ(forecast_.one_visit_each(), 0); }

TEST_F(ForecastOfThree, CountsEachMeasurementByItsPoints) {
  forecast_.add(0, 1);
  forecast_.add(1, 10);
  forecast_.add(5, 100);
  EXPECT_DOUBLE_EQ(forecast_.one_visit_each(), 2 * 1 + 3 * 10 + 100);
}

TEST_F(ForecastOfThree, TakesWhatWasNotVisitedForTheMean) {
  forecast_.add(0, 1);
  forecast_.add(1, 10);
  EXPECT_DOUBLE_EQ(forecast_.one_visit_each(), 32 * 6 / 5.0);
}

TEST_F(ForecastOfThree, ABudgetThatSufficesIsWhatTheRunTakes) {
  for (const int candidate : {0, 1, 5}) forecast_.add(candidate, 1);
  const Statement statement = state(forecast_, 20, 1, 3);
  EXPECT_DOUBLE_EQ(statement.seconds, 20);
  EXPECT_EQ(statement.needed, 0);
}

TEST_F(ForecastOfThree, ABudgetThatIsTooSmallIsToldWithTheOneThatSuffices) {
  for (const int candidate : {0, 1, 5}) forecast_.add(candidate, 1);
  Statement statement = state(forecast_, 10, 1, 3);  // one visit each, but not three
  EXPECT_DOUBLE_EQ(statement.seconds, 10);
  EXPECT_DOUBLE_EQ(statement.needed, 19);
  statement = state(forecast_, 5, 1, 3);
  EXPECT_DOUBLE_EQ(statement.seconds, 7);
  EXPECT_DOUBLE_EQ(statement.one_each, 6);
}

}  // namespace
}  // namespace haichi::measure
