#include "measure/refinement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace haichi::measure {
namespace {

using Curve = std::function<double(int64_t)>;

// Like an MPI library's: copies at once up to 8 KiB and asks first above, faster caches below 256
// KiB.
constexpr int64_t kEager = 8192;
double eager_and_rendezvous(int64_t bytes) {
  const double at = double(bytes);
  const double near = 1e-6 + at / 6e9;
  if (bytes <= kEager) return near;
  return 3e-6 + at / 11e9 + std::max(at - (256 << 10), 0.0) / 30e9;
}

Known exact(int64_t bytes, double median) { return {bytes, median, median, median}; }

std::vector<Known> powers_of_four(const Curve& curve) {
  std::vector<Known> all;
  for (int64_t size = 4; size <= 4 << 20; size *= 4) all.push_back(exact(size, curve(size)));
  return all;
}

double mean_error(const std::vector<Known>& curve, const Curve& truth) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> power(2, 22);
  double sum = 0;
  for (int i = 0; i < 60; ++i) {
    const int64_t size = int64_t(std::exp2(power(random))) / 4 * 4;
    size_t behind = 1;
    while (curve[behind].bytes < size) ++behind;
    sum += std::abs(between(curve[behind - 1], curve[behind], size) / truth(size) - 1);
  }
  return sum / 60;
}

std::vector<Known> refined(const Curve& curve, double within, size_t most) {
  Refinement refinement(powers_of_four(curve), within, most);
  while (const auto size = refinement.next()) refinement.add(exact(*size, curve(*size)));
  return refinement.curve();
}

TEST(Refinement, ThirtyPointsTellSixtyRandomSizesWithinHalfAPerCent) {
  const auto curve = refined(eager_and_rendezvous, 0.005, 30);
  EXPECT_LE(curve.size(), 30U);
  EXPECT_GT(mean_error(powers_of_four(eager_and_rendezvous), eager_and_rendezvous), 0.015);
  EXPECT_LT(mean_error(curve, eager_and_rendezvous), 0.005);
}

TEST(Refinement, AStraightLineNeedsNoMorePoints) {
  const Curve line = [](int64_t bytes) { return 1e-6 + double(bytes) / 1e9; };
  EXPECT_EQ(refined(line, 0.02, 30).size(), powers_of_four(line).size());
}

TEST(Refinement, WhatNoiseExplainsIsNotLookedInto) {
  std::vector<Known> curve{exact(4, 1e-6), exact(64, 1.1e-6), exact(1024, 1e-6)};
  Refinement refinement(curve, 0.02, 30);
  ASSERT_TRUE(refinement.next());
  const int64_t size = *refinement.next();
  const double off = between(curve[0], curve[1], size) * 1.05;
  refinement.add({size, off, off * 0.94, off * 1.06});
  for (int i = 0; i < 3 && refinement.next(); ++i) {
    EXPECT_GT(*refinement.next(), 64);
    refinement.add({*refinement.next(), 1.05e-6, 0.8e-6, 1.3e-6});
  }
  EXPECT_FALSE(refinement.next());
}

std::vector<Switch> switches_of(std::vector<Known>& curve, const Curve& truth, int& probes) {
  return find_switches(curve, 30, [&](int64_t bytes) -> std::optional<Known> {
    ++probes;
    return exact(bytes, truth(bytes));
  });
}

TEST(FindSwitches, FindsTheEagerLimitToFourBytes) {
  auto curve = powers_of_four(eager_and_rendezvous);
  int probes = 0;
  const auto switches = switches_of(curve, eager_and_rendezvous, probes);
  ASSERT_EQ(switches.size(), 1U);
  EXPECT_EQ(switches[0].below.bytes, kEager);
  EXPECT_EQ(switches[0].above.bytes, kEager + 4);
  EXPECT_NEAR(switches[0].ratio(), 3.74 / 2.37, 0.05);
  EXPECT_EQ(curve.size(), powers_of_four(eager_and_rendezvous).size() + 2);
  EXPECT_LT(mean_error(curve, eager_and_rendezvous), 0.01);
}

TEST(FindSwitches, FindsSeveralUpAndDown) {
  const std::vector<int64_t> limits{256, 1424, 3484, 9376, 65472};
  const std::vector<double> rates{0.81, 0.34, 0.61, 1.09, 0.59, 0.94};
  const Curve steps = [&](int64_t bytes) {
    size_t piece = 0;
    while (piece < limits.size() && bytes > limits[piece]) ++piece;
    return 1e-6 + double(bytes) / (rates[piece] * 1e9);
  };
  auto curve = powers_of_four(steps);
  int probes = 0;
  const auto switches = switches_of(curve, steps, probes);
  std::vector<int64_t> found;
  for (const Switch& each : switches) found.push_back(each.below.bytes);
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(limits));
  EXPECT_LT(mean_error(curve, steps), 0.005);
  EXPECT_LE(curve.size(), 30U);
}

TEST(FindSwitches, ABendIsNone) {
  const Curve bend = [](int64_t bytes) {
    return 1e-6 + double(bytes) / 10e9 + std::max(double(bytes) - 40000, 0.0) / 2e9;
  };
  auto curve = powers_of_four(bend);
  int probes = 0;
  EXPECT_TRUE(switches_of(curve, bend, probes).empty());
  EXPECT_LT(probes, 100);
}

TEST(FindSwitches, NoiseIsNone) {
  std::vector<Known> curve;
  for (int64_t size = 4; size <= 4 << 20; size *= 4)
    curve.push_back({size, 1e-6 + double(size) / 1e10, 1e-6, 1e-2});
  curve.back().median = 5e-3;  // most of its samples were interrupted
  int probes = 0;
  const auto switches = find_switches(curve, 30, [&](int64_t bytes) {
    ++probes;
    return std::optional(Known{bytes, 1e-4, 1e-6, 1e-2});
  });
  EXPECT_TRUE(switches.empty());
  EXPECT_EQ(probes, 0);
}

TEST(FindSwitches, AStepThatDoesNotLastIsNone) {
  const Curve line = [](int64_t bytes) { return 1e-6 + double(bytes) / 1e10; };
  auto curve = powers_of_four(line);
  curve[4] = exact(curve[4].bytes, 2 * curve[4].median);  // the machine was slow for a while
  int probes = 0;
  EXPECT_TRUE(switches_of(curve, line, probes).empty());
  EXPECT_GT(probes, 0);
}

TEST(FindSwitches, EndsWhenTheTimeIsOver) {
  auto curve = powers_of_four(eager_and_rendezvous);
  EXPECT_TRUE(find_switches(curve, 30, [](int64_t) { return std::nullopt; }).empty());
}

TEST(Refinement, GoesOverNoSwitch) {
  auto curve = powers_of_four(eager_and_rendezvous);
  int probes = 0;
  switches_of(curve, eager_and_rendezvous, probes);
  Refinement refinement(curve, 0.005, 30);
  while (const auto size = refinement.next())
    refinement.add(exact(*size, eager_and_rendezvous(*size)));
  EXPECT_LT(refinement.curve().size(), 25U);
  EXPECT_LT(mean_error(refinement.curve(), eager_and_rendezvous), 0.001);
}

}  // namespace
}  // namespace haichi::measure
