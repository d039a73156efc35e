#include "measure/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

namespace haichi::measure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double kLimit = 0.15;

// A network as the rounds see it: what each member's way in and out, and single links, take longer,
// and noise that only ever makes things slower, now and then much.
struct Network {
  int members;
  std::vector<double> out = std::vector<double>(size_t(members), 1);
  std::vector<double> in = std::vector<double>(size_t(members), 1);
  std::map<std::pair<int, int>, double> links = {};
  double noise = 0;
  std::mt19937 random{1};

  double time(int from, int to, int distance) {
    const auto link = links.find({from, to});
    const double alone = link == links.end() ? 1 : link->second;
    const double quiet = 0.01 * (1 + 0.1 * distance);  // far ones take longer
    const double small = std::exponential_distribution<>(1)(random) * noise;
    const bool hit = std::uniform_real_distribution<>(0, 1)(random) < noise;
    return quiet * std::max({out[size_t(from)], in[size_t(to)], alone}) * (1 + small + 3 * hit);
  }
  std::vector<Shift> rounds(int visits) {
    std::vector<Shift> all;
    for (const int distance : shift_distances(members)) {
      all.push_back({distance, Visits(size_t(visits))});
      for (auto& visit : all.back().seconds)
        for (int to = 0; to < members; ++to)
          visit.push_back(time((to + members - distance) % members, to, distance));
    }
    return all;
  }
};

TEST(ShiftDistances, AreTwiceTheLogarithmAtMostAndGoBothWays) {
  EXPECT_THAT(shift_distances(0), IsEmpty());
  EXPECT_THAT(shift_distances(1), IsEmpty());
  EXPECT_THAT(shift_distances(2), ElementsAre(1));
  EXPECT_THAT(shift_distances(3), ElementsAre(1, 2));
  EXPECT_THAT(shift_distances(8), ElementsAre(1, 7, 2, 6, 4));
  for (int members = 2; members < 3000; ++members) {
    const auto distances = shift_distances(members);
    const std::set<int> each(distances.begin(), distances.end());
    ASSERT_EQ(each.size(), distances.size()) << members;
    ASSERT_LE(double(distances.size()), 2 * std::log2(members)) << members;
    for (const int distance : distances) ASSERT_TRUE(each.count(members - distance)) << members;
  }
}

TEST(JudgeLinks, AQuietNetworkIsFine) {
  for (int members = 2; members <= 33; ++members)
    EXPECT_THAT(judge_links("bandwidth", members, Network{members}.rounds(5), kLimit).findings,
                IsEmpty())
        << members;
}

TEST(JudgeLinks, ANodeThatSendsSlowlyIsToldFromItsLinks) {
  Network network{8};
  network.out[3] = 1 / 0.7;
  const auto findings = judge_links("bandwidth", 8, network.rounds(5), kLimit).findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].of, Of::member);
  EXPECT_EQ(findings[0].unit, 3);
  EXPECT_TRUE(findings[0].sends);
  EXPECT_FALSE(findings[0].receives);
  EXPECT_NEAR(findings[0].factor, 1 / 0.7, 0.01);
  EXPECT_EQ(findings[0].seen, 5);
}

TEST(JudgeLinks, BothWaysAreOneFinding) {
  for (int members = 3; members <= 17; ++members) {
    Network network{members};
    const int slow = members / 2;
    network.out[size_t(slow)] = 1.4;
    network.in[size_t(slow)] = 1.6;
    const auto findings = judge_links("bandwidth", members, network.rounds(5), kLimit).findings;
    ASSERT_THAT(findings, SizeIs(1)) << members;
    EXPECT_EQ(findings[0].unit, slow);
    EXPECT_TRUE(findings[0].sends && findings[0].receives);
    EXPECT_NEAR(findings[0].factor, 1.6, 0.01);
  }
}

TEST(JudgeLinks, OneLinkIsNoNode) {
  Network network{8};
  network.links[{2, 6}] = 2;
  const auto findings = judge_links("bandwidth", 8, network.rounds(5), kLimit).findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].of, Of::link);
  EXPECT_EQ(findings[0].from, 2);
  EXPECT_EQ(findings[0].to, 6);
  EXPECT_THAT(findings[0].distances, ElementsAre(4));
}

TEST(JudgeLinks, TwoNodesHaveTwoWaysToCompare) {
  Network network{2};
  network.links[{1, 0}] = 1.5;
  const auto findings = judge_links("bandwidth", 2, network.rounds(5), kLimit).findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].of, Of::link);
  EXPECT_EQ(findings[0].from, 1);
}

TEST(JudgeLinks, WhatIsSlowInOneVisitIsNoFinding) {
  auto rounds = Network{8}.rounds(5);
  for (Shift& shift : rounds)
    for (double& seconds : shift.seconds[2])
      seconds *= 1 + 0.2 * double(&seconds - shift.seconds[2].data());
  EXPECT_THAT(judge_links("bandwidth", 8, rounds, kLimit).findings, IsEmpty());
}

// Whatever the noise and the members: nothing is found where nothing is, and a node or link of
// 70 % is found, it alone, where the noise is below the difference.
TEST(JudgeLinks, RandomSlowNodesAndLinksAreFoundAndNothingElse) {
  std::mt19937 random(22);
  const auto draw = [&](int from, int to) {
    return std::uniform_int_distribution<>(from, to)(random);
  };
  int false_alarms = 0, missed = 0, jobs = 0;
  for (; jobs < 600; ++jobs) {
    Network network{.members = draw(5, 40), .noise = 0.001 * draw(0, 30)};
    network.random.seed(random());
    const int slow = draw(0, network.members - 1);
    const auto distances = shift_distances(network.members);
    const int to = (slow + distances[size_t(draw(0, int(distances.size()) - 1))]) % network.members;
    const int kind = jobs % 4;
    if (kind == 1) network.out[size_t(slow)] = 1 / 0.7;
    if (kind == 2) network.out[size_t(slow)] = network.in[size_t(slow)] = 1 / 0.7;
    if (kind == 3) network.links[{slow, to}] = 1 / 0.7;
    bool found = kind == 0;
    for (const Finding& each :
         judge_links("bandwidth", network.members, network.rounds(7), kLimit).findings) {
      const bool right = kind == 3 ? each.of == Of::link && each.from == slow && each.to == to
                                   : kind != 0 && each.of == Of::member && each.unit == slow;
      found = found || right;
      false_alarms += !right;
    }
    missed += !found;
  }
  EXPECT_LE(false_alarms, jobs / 200);
  EXPECT_LE(missed, jobs / 100);
}

TEST(SlowerThanPeers, NoiseThatIsLargerThanTheDifferenceHidesIt) {
  std::mt19937 random(3);
  int alarms = 0;
  for (int job = 0; job < 200; ++job) {
    Visits visits(7, std::vector<double>(8));
    for (auto& visit : visits)
      for (double& seconds : visit) seconds = std::lognormal_distribution<>(0, 1.5)(random);
    alarms += int(slower_than_peers(visits, 0.5).slow.size());
  }
  EXPECT_LE(alarms, 2);
}

TEST(JudgeRanks, ASlowNodeIsSaidOnceAndASlowRankByItself) {
  const std::vector<int> nodes = {0, 0, 1, 1, 2, 2, 3, 3};
  Visits seconds(5, {1, 1, 1, 1, 1.5, 1.5, 1, 1});
  auto findings = judge_ranks("compute", 4, nodes, seconds, kLimit).findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].of, Of::member);
  EXPECT_EQ(findings[0].unit, 2);
  for (auto& visit : seconds) visit = {1, 1, 1, 1, 1, 1.5, 1, 1};
  findings = judge_ranks("compute", 4, nodes, seconds, kLimit).findings;
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].of, Of::rank);
  EXPECT_EQ(findings[0].unit, 5);
}

TEST(JudgeRanks, WhereHalfTheNodesAreOfAnotherKindNoneIsSlow) {
  std::vector<int> members(8);
  for (int i = 0; i < 8; ++i) members[size_t(i)] = i;
  const Visits halves(5, {1, 1.1, 0.9, 1, 2, 2.1, 1.9, 2});
  EXPECT_THAT(judge_ranks("compute", 8, members, halves, kLimit).findings, IsEmpty());
}

}  // namespace
}  // namespace haichi::measure
