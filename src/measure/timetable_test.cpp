#include "measure/timetable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace haichi::measure {
namespace {

Histogram alike(int64_t samples) {
  Histogram histogram;
  histogram.add(1e-6, samples);
  return histogram;
}

TEST(Reached, WantsSamplesAndANarrowInterval) {
  EXPECT_FALSE(reached(alike(29), {}));
  EXPECT_TRUE(reached(alike(30), {}));
  Histogram wide;
  for (int i = 0; i < 30; ++i) wide.add(1e-6 * (1 + i));
  EXPECT_FALSE(reached(wide, {}));
  EXPECT_TRUE(reached(wide, {.within = 0.5}));
}

struct Course {
  double elapsed = 0;
  int visits = 0;
  std::vector<int> finished;
  std::vector<int> order;
};

// Every visit takes what it was given, and `extra` seconds more.
Course run(Timetable& timetable, const Histogram& samples, double extra = 0) {
  Course result;
  while (const auto visit = timetable.next(result.elapsed)) {
    result.elapsed += visit->seconds + extra;
    ++result.visits;
    result.order.push_back(visit->point);
    timetable.visited(samples, false);
    for (const int point : timetable.finished()) result.finished.push_back(point);
  }
  for (const int point : timetable.finished()) result.finished.push_back(point);
  return result;
}

TEST(Timetable, PointsThatNeverConvergeTakeTheBudgetAndNotMore) {
  for (const int points : {1, 15, 16, 17, 100}) {
    Timetable timetable(points, 60, {});
    const Course result = run(timetable, alike(3));
    EXPECT_EQ(result.visits, points * Timetable::kRounds);
    EXPECT_NEAR(result.elapsed, 60, 0.5) << points;
    EXPECT_EQ(int(result.finished.size()), points);
  }
}

TEST(Timetable, SlowVisitsAreMadeUpForByShorterOnes) {
  Timetable timetable(40, 60, {});
  const Course result = run(timetable, alike(3), 0.2);
  EXPECT_NEAR(result.elapsed, 60, 1);
}

TEST(Timetable, OnceTheTimeIsOverEachPointIsVisitedOnce) {
  Timetable timetable(100, 10, {});
  const Course result = run(timetable, alike(3), 0.5);
  // Those that were visited before the end more often, all others once.
  EXPECT_LT(result.visits, 120);
  EXPECT_EQ(int(result.finished.size()), 100);
}

TEST(Timetable, PointsThatConvergeAreVisitedTwice) {
  Timetable timetable(20, 60, {});
  const Course result = run(timetable, alike(100));
  EXPECT_EQ(result.visits, 40);
  EXPECT_LT(result.elapsed, 60);
}

TEST(Timetable, PointsOfABlockTakeTurns) {
  Timetable timetable(3, 1, {});
  EXPECT_EQ(run(timetable, alike(1)).order, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST(Timetable, ABlockIsFinalBeforeTheNextOneEnds) {
  Timetable timetable(Timetable::kBlock + 1, 10, {});
  double elapsed = 0;
  size_t known = 0;
  while (const auto visit = timetable.next(elapsed)) {
    elapsed += visit->seconds;
    if (visit->point == Timetable::kBlock) known = std::max(known, timetable.finished().size());
    timetable.visited(alike(1), false);
  }
  EXPECT_EQ(known, size_t(Timetable::kBlock));
  EXPECT_EQ(timetable.finished(), std::vector<int>{Timetable::kBlock});
}

TEST(Timetable, APointThatFailedIsNotVisitedAgain) {
  Timetable timetable(2, 1, {});
  std::vector<int> order;
  while (const auto visit = timetable.next(0)) {
    order.push_back(visit->point);
    timetable.visited(alike(0), visit->point == 0);
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 1, 1}));
}

TEST(Timetable, WhatIsLeftShrinks) {
  Timetable timetable(32, 64, {});
  EXPECT_EQ(timetable.left(0), 64);
  EXPECT_EQ(timetable.left(10), 54);
  while (timetable.next(0)) timetable.visited(alike(100), false);
  EXPECT_EQ(timetable.left(10), 0);
}

TEST(Timetable, PointsThatConvergeTakeWhatWasStatedToo) {
  for (const int points : {100, 2000}) {
    Timetable timetable(points, 60, {});
    const Course result = run(timetable, alike(100));
    EXPECT_GT(result.elapsed, 0.8 * 60) << points;
    EXPECT_LE(result.elapsed, 60) << points;
  }
}

TEST(Timetable, ScarceTimeGoesToOneVisitEach) {
  Timetable timetable(100, 20, {});
  const Course result = run(timetable, alike(3), 0.15);  // 15 s for one visit each
  EXPECT_EQ(int(result.finished.size()), 100);
  EXPECT_LT(result.elapsed, 20 * 1.1);
  EXPECT_GT(result.visits, 100);
}

TEST(Timetable, WhereTimeIsScarceWhatWasVisitedBeforeIsPassedOver) {
  std::vector<char> visited(100);
  for (size_t i = 0; i < 100; i += 4) visited[i] = 1;
  // 75 visits are left, of 0.15 s more than was asked for: 11.4 s.
  Timetable timetable(100, 8, {}, 1e9, {visited, 0.15});
  const Course result = run(timetable, alike(3), 0.15);
  EXPECT_EQ(result.visits, 75);
  EXPECT_EQ(int(result.finished.size()), 100);
  // With time for more they have their turns as all others.
  Timetable ample(100, 100, {}, 1e9, {visited, 0.15});
  EXPECT_EQ(run(ample, alike(3), 0.15).visits, 300);
}

TEST(Timetable, TakesWhatWasStatedAlsoWhereOneVisitEachIsLess) {
  Timetable timetable(500, 100, {}, 1e9, {{}, 0.15});
  const Course result = run(timetable, alike(3), 0.15);
  EXPECT_NEAR(result.elapsed, 100, 5);
}

TEST(Timetable, AtTheDeadlineTheRestIsGivenUp) {
  Timetable timetable(100, 10, {}, 13);
  const Course result = run(timetable, alike(3), 0.5);
  EXPECT_LT(result.elapsed, 13.6);
  EXPECT_LT(result.visits, 30);
  EXPECT_EQ(int(result.finished.size()), 100);
  EXPECT_EQ(timetable.left(result.elapsed), 0);
}

}  // namespace
}  // namespace haichi::measure
