#include "collectives/selection.h"

#include <gmock/gmock.h>

#include <algorithm>
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
  Selection selection(3, {.rounds = 3, .least = 1.1, .budget = HUGE_VAL});
  EXPECT_EQ(selection.next(), 0);
  EXPECT_THAT(run(selection, 11, times({3, 2.9, 2.8})),
              ElementsAre(0, 1, 2, 1, 2, 0, 2, 0, 1, 2, 2));
  EXPECT_EQ(selection.state(), Selection::State::locked);
  EXPECT_EQ(selection.chosen(), 2);
  EXPECT_EQ(selection.seconds(), 2.8);
}

TEST(Selection, DropsWhatIsTwiceSlowerAtOnce) {
  Selection selection(4, {.rounds = 3, .budget = HUGE_VAL});
  EXPECT_THAT(run(selection, 12, times({1.05, 2.2, 1, 1.3})),
              ElementsAre(0, 1, 2, 3, 2, 3, 0, 2, 2, 2, 2, 2));
  EXPECT_TRUE(selection.trials()[1].dropped);
  EXPECT_THAT(selection.trials()[1].seconds, ElementsAre(2.2));
}

TEST(Selection, WhatTrialsTellApartIsDroppedSoonerWhereTheyDifferLess) {
  // The same candidates, in a run that is steady and in one whose calls differ by a tenth.
  const auto trials_of_the_slower = [](double disturbance) {
    Selection selection(3, {.rounds = 5, .budget = HUGE_VAL});
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
  Selection selection(2, {.rounds = 12, .drop = {HUGE_VAL}, .budget = HUGE_VAL});
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
  Selection selection(2, {.budget = HUGE_VAL});
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
  Selection near(2, {.budget = HUGE_VAL}), faster(2, {.budget = HUGE_VAL});
  run(near, 20, times({1, 0.98}));
  EXPECT_EQ(near.chosen(), 0);
  EXPECT_EQ(near.seconds(), 1);
  run(faster, 20, times({1, 0.96}));
  EXPECT_EQ(faster.chosen(), 1);
}

TEST(Selection, OneSlowCallDoesNotDecide) {
  Selection selection(2, {.rounds = 3, .budget = HUGE_VAL});
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
      Selection selection(3, {.rounds = 5, .longest = longest, .budget = HUGE_VAL});
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
  Selection selection(2, {.rounds = 5, .drop = {HUGE_VAL}, .budget = HUGE_VAL});
  test::Random random(3);
  run(selection, 50, [&](int) { return double(random.between(1, 100)); });
  EXPECT_EQ(selection.trials()[0].seconds.size(), 5u);
}

TEST(Selection, RetriesWhenItsChoiceBecomesSlow) {
  Selection selection(2, {.rounds = 3, .first_check = 10, .budget = HUGE_VAL});
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
  Selection selection = Selection::decided(3, 2, 1.0, {.first_check = 4, .budget = HUGE_VAL});
  EXPECT_THAT(run(selection, 4, times({1, 1, 1})), ElementsAre(2, 2, 2, 2));
  run(selection, 8, times({1, 1, 9}));
  EXPECT_EQ(selection.retries(), 1);  // and does not stay with it where it is wrong today
}

TEST(Selection, RanksWithDifferentTimesStayTogether) {
  test::Random random(7);
  for (int job = 0; job < 200; ++job) {
    const int candidates = int(random.between(1, 9)), ranks = int(random.between(1, 20));
    std::vector<Selection> all(
        size_t(ranks),
        Selection(candidates, {.first_check = 5, .budget = job % 2 == 0 ? HUGE_VAL : 0.02}));
    for (int call = 0; call < 400; ++call) {
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

/// Calls of a job with a budget: what they took, and what the library's own would have taken.
struct Job {
  double seconds = 0, library = 0;
  double worst = 0;  // by how much a single call was slower than the library's
  double step = 0;   // ... and all trials together that came before one agreement
  std::vector<int> taken;
};

Job job_of(
    Selection& selection, int calls, const std::function<double(int, int)>& seconds,
    double agreement = 0, const std::function<double()>& noise = [] { return 1.0; }) {
  Job job;
  double step = 0;
  for (int call = 0; call < calls; ++call) {
    const int candidate = selection.next();
    const double took = seconds(candidate, call), library = seconds(0, call);
    job.taken.push_back(candidate);
    job.seconds += took;
    job.library += library;
    job.worst = std::max(job.worst, took - library);
    if (candidate != selection.chosen()) step += std::max(0.0, took - library);
    job.step = std::max(job.step, step);
    if (!selection.took(took * noise())) continue;
    step = 0;
    const std::vector<double> mean(selection.ballot().begin(), selection.ballot().end());
    selection.agree(mean);
    job.seconds += agreement;
    selection.agreement_took(agreement);
  }
  return job;
}

std::function<double(int, int)> steady(std::vector<double> of) {
  return [of](int candidate, int) { return of[size_t(candidate)]; };
}

TEST(Selection, AShortJobIsTheLibrarysOwn) {
  for (const int calls : {10, 20, 40}) {
    Selection selection(4);
    EXPECT_THAT(job_of(selection, calls, steady({1, 0.5, 100, 2})).taken, testing::Each(0));
  }
}

TEST(Selection, TrialsOfAJobCostTwoPerCentAndOneTrial) {
  test::Random random(5);
  for (int round = 0; round < 400; ++round) {
    const int candidates = int(random.between(2, 15));
    std::vector<double> of = {1};
    for (int i = 1; i < candidates; ++i) of.push_back(double(random.between(50, 400)) * 0.01);
    if (round % 3 == 0) of.back() = 100;
    const bool noisy = round % 2 == 0;
    const double agreement = 0.25 * double(round % 4);
    for (const int calls : {10, 20, 40, 60, 100, 200, 1000}) {
      Selection selection(candidates);
      const Job job = job_of(selection, calls, steady(of), agreement,
                             [&] { return noisy ? double(random.between(90, 110)) * 0.01 : 1.0; });
      // A trial is one call, or the two of a candidate that was known to be affordable. Where calls
      // differ by a tenth the choice itself may be wrong by some per cent.
      EXPECT_LE(job.seconds, (noisy ? 1.06 : 1.02) * job.library + job.worst + 0.5 + 2 * agreement)
          << "round " << round << ", calls " << calls;
    }
  }
}

TEST(Selection, DearAgreementsBecomeRareWhileABudgetIsSaved) {
  // Of calls of few bytes an agreement costs several.
  Selection selection(2);
  const Job job = job_of(selection, 10'000, steady({1e-3, 10e-3}), 4e-3);
  EXPECT_LE(job.seconds, 1.02 * job.library + job.worst + 8e-3);
}

TEST(Selection, DearAgreementsDoNotHideWhatIsFaster) {
  test::Random random(11);
  for (int round = 0; round < 100; ++round) {
    const int candidates = int(random.between(2, 6));
    const double agreement = double(random.between(0, 60)) * 0.1e-3;
    std::vector<double> of(size_t(candidates), 2e-3);
    of[0] = 1e-3;
    const int best = int(random.between(1, candidates - 1));
    of[size_t(best)] = double(random.between(30, 80)) * 0.01e-3;
    Selection selection(candidates);
    const Job job = job_of(selection, 20'000, steady(of), agreement);
    EXPECT_EQ(selection.chosen(), best)
        << "round " << round << ", an agreement takes " << agreement / of[0] << " calls";
    EXPECT_LE(job.seconds, 1.02 * job.library + job.worst + 2 * agreement);
  }
}

/// Jobs with calls that differ by `noise` (the standard deviation of the logarithm) and agreements
/// that take up to `agreement` calls of the library's. Another candidate is faster, by 1.3 times or
/// more.
struct RandomJobs {
  double agreement;
  int calls;
  double noise = 0;
};

/// The share of them in which that one is chosen at the end. None may cost more than its budget.
double share_that_finds_it(const RandomJobs& jobs) {
  constexpr int kJobs = 300;
  test::Random random(23);
  const auto uniform = [&] { return double(random.below(1 << 20)) / (1 << 20); };
  // Twelve uniform draws come near a normal one.
  const auto normal = [&] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  };
  int found = 0;
  for (int round = 0; round < kJobs; ++round) {
    const int candidates = int(random.between(2, 10));
    std::vector<double> of = {1};
    for (int i = 1; i < candidates; ++i) of.push_back(0.95 + 3 * uniform() * uniform());
    const int best = int(random.between(1, candidates - 1));
    of[size_t(best)] = 1 / (1.3 + uniform());
    const double agreement = jobs.agreement * uniform();
    Selection selection(candidates);
    const Job job = job_of(selection, jobs.calls, steady(of), agreement,
                           [&] { return std::exp(jobs.noise * normal()); });
    found += selection.chosen() == best;
    EXPECT_LE(job.seconds, (jobs.noise > 0 ? 1.06 : 1.02) * job.library + job.step + 2 * agreement)
        << "job " << round << " of " << jobs.calls << " calls, noise " << jobs.noise
        << ", an agreement takes " << agreement << " calls";
  }
  return double(found) / kJobs;
}

TEST(Selection, RandomJobsFindWhatIsFasterWithinTheirBudget) {
  for (const double noise : {0.0, 0.03, 0.1, 0.2}) {
    SCOPED_TRACE(noise);
    share_that_finds_it({0.5, 100, noise});
    EXPECT_GE(share_that_finds_it({0.5, 400, noise}), 0.85);
    EXPECT_GE(share_that_finds_it({0.5, 1000, noise}), 0.97);
    EXPECT_GE(share_that_finds_it({2, 1000, noise}), 0.95);
    EXPECT_GE(share_that_finds_it({8, 2000, noise}), 0.95);
    EXPECT_GE(share_that_finds_it({8, 4000, noise}), 0.98);
  }
}

TEST(Selection, WhatTwoCallsPromisedIsGivenUpWhereMoreCallsDoNotKeepIt) {
  // The slower one has two lucky calls behind its first.
  Selection selection(2);
  int of_other = 0;
  const Job job = job_of(selection, 1000, [&](int candidate, int) {
    if (candidate == 0) return 1.0;
    ++of_other;
    return of_other == 2 || of_other == 3 ? 0.7 : 1.2;
  });
  EXPECT_EQ(selection.chosen(), 0);
  EXPECT_LE(job.seconds, 1.02 * job.library);
}

TEST(Selection, AShortJobPaysForNoAgreement) {
  Selection selection(4);
  EXPECT_EQ(job_of(selection, 70, steady({1, 0.5, 100, 2}), 5).seconds, 70);
}

TEST(Selection, WhatIsAbsurdlySlowHasOneCall) {
  Selection selection(3);
  const Job job = job_of(selection, 3000, steady({1, 100, 0.8}));
  EXPECT_EQ(std::ranges::count(job.taken, 1), 1);
  EXPECT_TRUE(selection.trials()[1].dropped);
}

TEST(Selection, AfterASlowTrialTheNextCallIsTheLibrarysAgain) {
  Selection selection(3);
  const Job job = job_of(selection, 100, steady({1, 30, 30}));
  const auto slow = std::ranges::find(job.taken, 1);
  ASSERT_NE(slow, job.taken.end());
  ASSERT_NE(slow + 1, job.taken.end());
  EXPECT_EQ(*(slow + 1), 0);
}

TEST(Selection, NobodyIsDroppedOnOneCallThatCounts) {
  // The first call of the faster one makes connections, its next is disturbed.
  Selection selection(2);
  int of_other = 0;
  job_of(selection, 1000, [&](int candidate, int) {
    if (candidate == 0) return 1.0;
    ++of_other;
    return of_other == 1 ? 1.9 : of_other == 2 ? 3.0 : 0.6;
  });
  EXPECT_EQ(selection.chosen(), 1);
}

TEST(Selection, TheLibraryHasThreeCallsThatCountBeforeAnyOther) {
  Selection selection(2, {.budget = 0.5, .usual_calls = 4});
  const Job job = job_of(selection, 20, steady({1, 1}));
  EXPECT_GE(std::ranges::find(job.taken, 1) - job.taken.begin(), 4);
  EXPECT_GE(selection.trials()[0].seconds.size(), 3u);
}

TEST(Selection, ALongJobFindsTheFastest) {
  Selection selection(6);
  const Job job = job_of(selection, 400, steady({1, 0.9, 0.7, 1.3, 1.6, 0.8}));
  EXPECT_EQ(selection.chosen(), 2);
  EXPECT_EQ(selection.state(), Selection::State::locked);
  EXPECT_LT(job.seconds, 0.81 * job.library);
}

TEST(Selection, WhatIsPredictedToBeSlowHasToBeSavedForLonger) {
  const auto first_call = [](double predicted) {
    Selection selection(2);
    selection.expect({0, 1});
    Selection other(3);
    other.expect({0, 1, predicted});
    const Job job = job_of(other, 400, steady({1, 1, 1}));
    return std::ranges::find(job.taken, 2) - job.taken.begin();
  };
  EXPECT_GT(first_call(2.5), first_call(1) + 20);
}

TEST(Selection, SeesWithinBoundsThatTheLibraryHasBecomeFaster) {
  Selection selection(2, {.check_seconds = 100});
  const auto drifting = [](int candidate, int call) {
    return candidate == 1 ? 0.7 : call < 500 ? 1.0 : 0.4;
  };
  job_of(selection, 499, drifting);
  ASSERT_EQ(selection.chosen(), 1);
  Selection later = selection;
  int calls = 0;
  job_of(later, 300, [&](int candidate, int) { return ++calls, candidate == 1 ? 0.7 : 0.4; });
  EXPECT_EQ(later.chosen(), 0);
  EXPECT_EQ(later.retries(), 1);
}

TEST(Selection, LooksForDriftAreNeverFartherApartThanTheirBound) {
  Selection selection = Selection::decided(2, 1, 1e-6, {.last_check = 1000});
  int since = 0, most = 0;
  for (int call = 0; call < 20000; ++call) {
    ++since;
    if (!selection.took(1e-6)) continue;
    const std::vector<double> mean(selection.ballot().begin(), selection.ballot().end());
    selection.agree(mean);
    most = std::max(most, since);
    since = 0;
  }
  EXPECT_EQ(most, 1000);
}

TEST(Selection, GainsAreToldOfCallsThatWereNoTrials) {
  Selection selection(2);
  job_of(selection, 200, steady({1, 0.5}));
  ASSERT_EQ(selection.chosen(), 1);
  const auto& library = selection.steady()[0];
  const auto& chosen = selection.steady()[1];
  EXPECT_GE(library.calls, 39);
  EXPECT_DOUBLE_EQ(library.seconds, double(library.calls));
  EXPECT_GT(chosen.calls, 100);
  EXPECT_DOUBLE_EQ(chosen.seconds, 0.5 * double(chosen.calls));
}

}  // namespace
}  // namespace haichi::collectives
