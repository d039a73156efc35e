#include "mpiio/twophase/measured_costs.h"

#include <gtest/gtest.h>

namespace haichi::mpiio {
namespace {

constexpr int64_t kBytes = 1 << 20;

TwoPhasePlan plan_with(int64_t link, int64_t aggregator) {
  TwoPhasePlan plan;
  plan.busiest_link = link;
  plan.busiest_aggregator = aggregator;
  return plan;
}

TEST(MeasuredCosts, NothingIsKnownByOneAccess) {
  MeasuredCosts costs;
  costs.took(plan_with(kBytes, kBytes), 80 * kBytes, kBytes);
  EXPECT_FALSE(costs.costs());
  costs.took(plan_with(kBytes, kBytes), 80 * kBytes, kBytes);
  ASSERT_TRUE(costs.costs());
  EXPECT_DOUBLE_EQ(costs.costs()->link, 79);
  EXPECT_DOUBLE_EQ(costs.costs()->file, 1);
}

TEST(MeasuredCosts, WhatWasHeldUpOnceGivesNoNodeMoreToHandle) {
  MeasuredCosts costs;
  for (int i = 0; i < 2; ++i) costs.took(plan_with(kBytes, kBytes), 3 * kBytes, kBytes);
  costs.took(plan_with(kBytes, kBytes), 1000 * kBytes, kBytes);
  EXPECT_DOUBLE_EQ(costs.costs()->link, 2);
  costs.took(plan_with(kBytes, kBytes), 51 * kBytes, 50 * kBytes);
  EXPECT_DOUBLE_EQ(costs.costs()->file, 50);
  for (int i = 0; i < 3; ++i) costs.took(plan_with(kBytes, kBytes), 3 * kBytes, kBytes);
  EXPECT_DOUBLE_EQ(costs.costs()->file, 1) << "only the last ones count";
}

TEST(MeasuredCosts, WhereNothingCrossesTheLinkIsAsItWas) {
  MeasuredCosts costs;
  for (int i = 0; i < 2; ++i) costs.took(plan_with(kBytes, kBytes), 80 * kBytes, kBytes);
  for (int i = 0; i < 5; ++i) costs.took(plan_with(0, 4 * kBytes), 12 * kBytes, 12 * kBytes);
  EXPECT_DOUBLE_EQ(costs.costs()->link, 79);
  EXPECT_DOUBLE_EQ(costs.costs()->file, 3);
}

TEST(MeasuredCosts, LittleAccessesAndUnknownOnesSayNothing) {
  MeasuredCosts costs;
  for (int i = 0; i < 5; ++i) {
    costs.took(plan_with(1000, 1000), 80'000, 1000);
    costs.took(TwoPhasePlan{}, 80'000, 1000);
  }
  EXPECT_FALSE(costs.costs());
}

}  // namespace
}  // namespace haichi::mpiio
