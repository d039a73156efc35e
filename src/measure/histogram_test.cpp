#include "measure/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace haichi::measure {
namespace {

TEST(Histogram, QuantilesAreWithinABinOfThoseOfTheSamples) {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> draw(-13, 1.5);  // about 2 µs, with a long tail
  std::vector<double> all;
  Histogram histogram;
  for (int i = 0; i < 5001; ++i) {
    all.push_back(draw(random));
    histogram.add(all.back());
  }
  std::sort(all.begin(), all.end());
  for (const double q : {0.0, 0.05, 0.5, 0.95, 0.99, 1.0}) {
    const double exact = all[size_t(q * 5000)];
    EXPECT_NEAR(histogram.quantile(q) / exact, 1, 0.003) << q;
  }
  EXPECT_EQ(histogram.least(), all.front());
  EXPECT_EQ(histogram.most(), all.back());
}

TEST(Histogram, HoldsTimesFromZeroToDays) {
  Histogram histogram;
  histogram.add(0);
  histogram.add(100'000, 2);
  EXPECT_EQ(histogram.count(), 3);
  EXPECT_EQ(histogram.quantile(0), 0);
  EXPECT_EQ(histogram.quantile(1), 100'000);
  EXPECT_EQ(histogram.bins().size(), 2u);
}

TEST(MedianInterval, TakesTheOrderStatisticsOfTheTables) {
  // Le Boudec, Table A.1: for n = 10 the 2nd and the 9th, for n = 30 the 10th and the 21st, for
  // n = 71 the 27th and the 45th.
  const auto ranks = [](int n) {
    Histogram histogram;
    for (int i = 1; i <= n; ++i) histogram.add(1e-6 * std::exp2(i / 16.0));
    const auto interval = median_interval(histogram);
    const auto rank = [](double value) { return int(std::lround(16 * std::log2(value * 1e6))); };
    return std::pair(rank(interval->low), rank(interval->high));
  };
  EXPECT_EQ(ranks(6), std::pair(1, 6));
  EXPECT_EQ(ranks(10), std::pair(2, 9));
  EXPECT_EQ(ranks(30), std::pair(10, 21));
  EXPECT_EQ(ranks(71), std::pair(27, 45));
}

TEST(MedianInterval, IsNotThereForTooFewSamples) {
  Histogram histogram;
  for (int i = 0; i < 5; ++i) histogram.add(1e-6);
  EXPECT_FALSE(median_interval(histogram));
}

TEST(MedianInterval, HoldsTheMedianInNineteenOfTwentyDraws) {
  std::mt19937_64 random(11);
  std::exponential_distribution<double> draw(1e6);
  const double median = std::log(2) / 1e6;
  for (const int n : {12, 60, 1500}) {
    int held = 0;
    for (int repetition = 0; repetition < 1000; ++repetition) {
      Histogram histogram;
      for (int i = 0; i < n; ++i) histogram.add(draw(random));
      const auto interval = median_interval(histogram);
      held += interval->low <= median && median <= interval->high;
    }
    EXPECT_GE(held, 930) << n;
    EXPECT_LE(held, 995) << n;
  }
}

}  // namespace
}  // namespace haichi::measure
