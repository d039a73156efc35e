#include "measure/clock_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace haichi::measure {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// The other clock is 5 s ahead and 40 millionths fast.
int64_t other(int64_t own) { return own + 5 * kSecond + int64_t(std::llround(4e-5 * double(own))); }

std::vector<ClockExchange> exchanges(int64_t begin, std::mt19937_64& random) {
  std::vector<ClockExchange> all;
  for (int i = 0; i < 20; ++i) {
    const int64_t there = 2000 + int64_t(random() % 20000), back = 2000 + int64_t(random() % 20000);
    all.push_back({begin, other(begin + there), begin + there + back});
    begin += 100'000;
  }
  return all;
}

TEST(OffsetOf, IsThatOfTheShortestRoundTripAndItsErrorHalfOfIt) {
  const std::vector<ClockExchange> three{{0, 1500, 2000}, {5000, 5600, 5200}, {9000, 9000, 9900}};
  const ClockOffset offset = offset_of(three);
  EXPECT_EQ(offset.at, 5100);
  EXPECT_EQ(offset.offset, 500);
  EXPECT_EQ(offset.error, 100);
}

TEST(ClockModel, OneOffsetIsAllThatIsKnownAtFirst) {
  ClockModel model;
  model.add({1000, -300, 50});
  EXPECT_EQ(model.other_at(7000), 6700);
  EXPECT_EQ(model.own_at(6700), 7000);
  EXPECT_EQ(model.error(), 50);
}

TEST(ClockModel, TwoOffsetsTellTheDrift) {
  std::mt19937_64 random(7);
  ClockModel model;
  for (int64_t at = 0; at < 5 * kSecond; at += kSecond) {
    const auto some = exchanges(at, random);
    model.add(offset_of(some));
  }
  // A second later the clock is where it is foretold, but for what the offsets were wrong by.
  const int64_t at = 5 * kSecond;
  EXPECT_NEAR(double(model.other_at(at)), double(other(at)), 3 * model.error());
  EXPECT_LT(model.error(), 12'000);
  EXPECT_NEAR(double(model.own_at(model.other_at(at))), double(at), 2);
}

TEST(ClockModel, OffsetsNearEachOtherTellNoDrift) {
  ClockModel model;
  model.add({0, 100, 50});
  model.add({1000, 140, 50});
  EXPECT_EQ(model.other_at(kSecond), kSecond + 140);
}

}  // namespace
}  // namespace haichi::measure
