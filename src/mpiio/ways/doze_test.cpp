#include "mpiio/ways/doze.h"

#include <gtest/gtest.h>

namespace haichi::mpiio {
namespace {

/// How many of `things`, each of which is the library's, the ranks agree on.
int asked(Doze& doze, int things) {
  int count = 0;
  for (int i = 0; i < things; ++i) {
    if (doze.goes_on()) continue;
    ++count;
    doze.longer();
  }
  return count;
}

TEST(Doze, AsksLessAndLessOften) {
  Doze doze;
  EXPECT_EQ(asked(doze, 1), 1);
  EXPECT_EQ(asked(doze, 1), 0);
  Doze long_one;
  EXPECT_EQ(asked(long_one, 1 + 1 + 1 + 2 + 1 + 4 + 1), 4);
  EXPECT_EQ(asked(long_one, 8 + 16 + 32 + 3), 3);
  EXPECT_EQ(asked(long_one, 33 * 10), 10) << "but never less than once in 33";
}

TEST(Doze, MayAskTheFirstTwoInARow) {
  Doze doze(0);
  EXPECT_EQ(asked(doze, 2), 2);
  EXPECT_EQ(asked(doze, 1), 0);
}

TEST(Doze, BeginsAnewAfterSomethingElse) {
  Doze doze;
  EXPECT_EQ(asked(doze, 20), 5);
  while (doze.goes_on()) {
  }
  doze.end();
  EXPECT_FALSE(doze.goes_on());
  EXPECT_EQ(asked(doze, 2), 1);
  EXPECT_FALSE(doze.all_were_the_librarys());
}

TEST(Doze, Wakes) {
  Doze doze;
  EXPECT_EQ(asked(doze, 1 + 1 + 1 + 2 + 1 + 1), 3);
  doze.wake();
  EXPECT_EQ(asked(doze, 3), 2);
}

TEST(Doze, BeginsAsleep) {
  Doze doze(1, 8);
  doze.begin_asleep();
  EXPECT_EQ(asked(doze, 8), 0);
  EXPECT_FALSE(doze.all_were_the_librarys()) << "nobody has asked";
  EXPECT_EQ(asked(doze, 9), 1);
  EXPECT_TRUE(doze.all_were_the_librarys());
  doze.end();
  while (doze.goes_on()) {
  }
  EXPECT_EQ(asked(doze, 2), 1);
}

TEST(AgreementPace, SleepsUntilAgreeingIsASmallShareOfTheTime) {
  AgreementPace pace;
  pace.agreed(1'000, 51'000);
  EXPECT_EQ(AgreementPace::longest(pace.period_ns(), pace.least_ns()), 0) << "no period yet";
  for (int i = 0; i < 9; ++i) pace.slept();
  pace.agreed(151'000, 251'000);  // 10 things in 100 us; the agreement before took 50 us
  EXPECT_EQ(pace.period_ns(), 10'000);
  EXPECT_EQ(pace.least_ns(), 50'000);
  EXPECT_EQ(AgreementPace::longest(pace.period_ns(), pace.least_ns()), 165);
  EXPECT_EQ(AgreementPace::longest(1, 1'000'000), 1024);
}

TEST(Doze, SleepsLongerThanUsualWhereThatPays) {
  Doze doze(1, 4);
  int most = 0;
  for (int agreement = 0; agreement < 12; ++agreement) {
    int slept = 0;
    while (doze.goes_on()) ++slept;
    most = std::max(most, slept);
    doze.longer(agreement < 8 ? 64 : 0);
  }
  EXPECT_EQ(most, 64);
  int slept = 0;
  while (doze.goes_on()) ++slept;
  EXPECT_EQ(slept, 4) << "no longer than it pays";
}

}  // namespace
}  // namespace haichi::mpiio
