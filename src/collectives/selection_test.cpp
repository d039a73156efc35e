#include "collectives/selection.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "support/random_placement.h"

namespace haichi::collectives {
namespace {

using testing::ElementsAre;

// Runs calls on a job of one rank, whose every candidate takes what `seconds` says; returns which
// candidates the calls took.
std::vector<int> run(Selection& selection, int calls, const std::function<double(int)>& seconds) {
  std::vector<int> taken;
  for (int i = 0; i < calls; ++i) {
    taken.push_back(selection.next());
    if (selection.took(seconds(taken.back()))) {
      const std::vector<double> mean(selection.ballot().begin(), selection.ballot().end());
      selection.agree(mean);
    }
  }
  return taken;
}

std::function<double(int)> times(std::vector<double> of) {
  return [of](int candidate) { return of[size_t(candidate)]; };
}

TEST(Selection, TriesTheLibraryFirstAndLocksTheFastest) {
  Selection selection(3, {.rounds = 3, .least = 1.1});
  EXPECT_EQ(selection.next(), 0);
  EXPECT_THAT(run(selection, 11, times({3, 2.9, 2.8})),
              ElementsAre(0, 1, 2, 1, 2, 0, 2, 0, 1, 2, 2));
  EXPECT_EQ(selection.state(), Selection::State::locked);
  EXPECT_EQ(selection.chosen(), 2);
  EXPECT_EQ(selection.seconds(), 2.8);
}

TEST(Selection, DropsWhatIsTwiceSlowerAtOnce) {
  Selection selection(4, {.rounds = 3});
  EXPECT_THAT(run(selection, 12, times({1.05, 2.2, 1, 1.3})),
              ElementsAre(0, 1, 2, 3, 2, 3, 0, 2, 2, 2, 2, 2));
  EXPECT_TRUE(selection.trials()[1].dropped);
  EXPECT_THAT(selection.trials()[1].seconds, ElementsAre(2.2));
}

TEST(Selection, WhatTrialsTellApartIsDroppedSoonerWhereTheyDifferLess) {
  // The same candidates, in a run that is steady and in one whose calls differ by a tenth.
  const auto trials_of_the_slower = [](double disturbance) {
    Selection selection(3, {.rounds = 5});
    int call = 0;
    run(selection, 30, [&](int candidate) {
      return (candidate == 2 ? 1.15 : 1 + 0.001 * candidate) * (1 + disturbance * (call++ / 3 % 2));
    });
    EXPECT_EQ(selection.state(), Selection::State::locked);
    return selection.trials()[2].seconds.size();
  };
  EXPECT_EQ(trials_of_the_slower(0), 2u);
  EXPECT_EQ(trials_of_the_slower(0.1), 5u);
}

TEST(Selection, AgreementsBecomeRarer) {
  Selection selection(2, {.rounds = 12, .drop = {HUGE_VAL}});
  std::vector<int> rounds;
  for (int call = 1; selection.state() == Selection::State::trying; ++call)
    if (selection.took(1)) {
      rounds.push_back(call / 2);
      const std::vector<double> mean(selection.ballot().begin(), selection.ballot().end());
      selection.agree(mean);
    }
  EXPECT_THAT(rounds, ElementsAre(1, 2, 5, 12));
  EXPECT_EQ(selection.trials()[0].seconds.size(), 12u);
  EXPECT_EQ(selection.trials()[1].seconds.size(), 12u);
}

TEST(Selection, OneThatIsAloneIsLockedEarly) {
  Selection selection(2);
  EXPECT_THAT(run(selection, 5, times({1, 5})), ElementsAre(0, 1, 0, 0, 0));
}

TEST(Selection, WithTheLibraryAloneNothingIsEverAgreed) {
  Selection selection(1);
  for (int i = 0; i < 10000; ++i) {
    EXPECT_EQ(selection.next(), 0);
    EXPECT_FALSE(selection.took(i));
  }
}

TEST(Selection, TheLibraryIsLeftForSomethingClearlyFasterOnly) {
  Selection near(2), faster(2);
  run(near, 20, times({1, 0.98}));
  EXPECT_EQ(near.chosen(), 0);
  EXPECT_EQ(near.seconds(), 1);
  run(faster, 20, times({1, 0.96}));
  EXPECT_EQ(faster.chosen(), 1);
}

TEST(Selection, OneSlowCallDoesNotDecide) {
  Selection selection(2, {.rounds = 3});
  int call = 0;
  // The fast one is disturbed once, but not more than what drops it.
  run(selection, 6,
      [&](int candidate) { return candidate == 1 && call++ == 0 ? 1.9 : 1.2 - 0.2 * candidate; });
  EXPECT_EQ(selection.chosen(), 1);
  EXPECT_EQ(selection.seconds(), 1.0);
}

TEST(Selection, GoesOnWhereTrialsDifferTooMuchToDecide) {
  // Candidates that are slower by a tenth each; calls differ by half, so five trials say little.
  struct Outcome {
    int best_locked = 0;
    size_t trials = 0;
  };
  const auto jobs = [](int longest, int64_t differ) {
    Outcome outcome;
    test::Random random(11);
    for (int job = 0; job < 300; ++job) {
      Selection selection(3, {.rounds = 5, .longest = longest});
      run(selection, 100, [&](int candidate) {
        return (1.2 - 0.1 * candidate) * double(random.between(100, 100 + differ));
      });
      EXPECT_EQ(selection.state(), Selection::State::locked);
      outcome.best_locked += selection.chosen() == 2;
      outcome.trials += selection.trials()[2].seconds.size();
    }
    return outcome;
  };
  const Outcome short_of = jobs(1, 50), enough = jobs(3, 50);
  EXPECT_LT(short_of.best_locked, 240);
  EXPECT_GT(enough.best_locked, short_of.best_locked + 20);
  EXPECT_GT(enough.trials, short_of.trials * 3 / 2);
  EXPECT_EQ(jobs(3, 2).trials, jobs(1, 2).trials);  // a steady run is through as soon as ever
}

TEST(Selection, WhereNoneIsEverDroppedNothingGoesOn) {
  Selection selection(2, {.rounds = 5, .drop = {HUGE_VAL}});
  test::Random random(3);
  run(selection, 50, [&](int) { return double(random.between(1, 100)); });
  EXPECT_EQ(selection.trials()[0].seconds.size(), 5u);
}

TEST(Selection, RetriesWhenItsChoiceBecomesSlow) {
  Selection selection(2, {.rounds = 3, .first_check = 10});
  run(selection, 6, times({1, 0.95}));
  ASSERT_EQ(selection.state(), Selection::State::locked);
  ASSERT_EQ(selection.chosen(), 1);
  run(selection, 10, times({1, 1.2}));  // slower, but not enough
  EXPECT_EQ(selection.retries(), 0);
  run(selection, 20, times({1, 1.8}));  // the next look is after twice as many calls
  EXPECT_EQ(selection.retries(), 1);
  run(selection, 10, times({1, 1.8}));
  EXPECT_EQ(selection.chosen(), 0);
}

TEST(Selection, StartsWithWhatAnEarlierRunDecided) {
  Selection selection = Selection::decided(3, 2, 1.0, {.first_check = 4});
  EXPECT_THAT(run(selection, 4, times({1, 1, 1})), ElementsAre(2, 2, 2, 2));
  run(selection, 8, times({1, 1, 9}));
  EXPECT_EQ(selection.retries(), 1);  // and does not stay with it where it is wrong today
}

TEST(Selection, RanksWithDifferentTimesStayTogether) {
  test::Random random(7);
  for (int job = 0; job < 200; ++job) {
    const int candidates = int(random.between(1, 9)), ranks = int(random.between(1, 20));
    std::vector<Selection> all(size_t(ranks), Selection(candidates, {.first_check = 5}));
    for (int call = 0; call < 200; ++call) {
      const int next = all[0].next();
      std::vector<double> sum;
      bool agrees = false;
      for (Selection& each : all) {
        ASSERT_EQ(each.next(), next);
        agrees = each.took(double(random.between(1, 1000)));
        sum.resize(each.ballot().size());
        for (size_t i = 0; i < sum.size(); ++i) sum[i] += each.ballot()[i] / ranks;
      }
      if (agrees)
        for (Selection& each : all) each.agree(sum);
    }
  }
}

}  // namespace
}  // namespace haichi::collectives
