#include "collectives/way_tuner.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>

namespace haichi::collectives {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

enum Way { library, alone, two_phases };
const std::vector<std::string> kNames = {"library", "alone", "two phases"};
const WayKey kKey = {
    .writing = true, .apart = false, .size_bin = 16, .pieces_bin = 10, .ranks_bin = 4};
constexpr int64_t kBytes = 1 << 16;

SelectionRules rules() {
  SelectionRules rules;
  rules.usual_calls = 5;
  rules.absurd = HUGE_VAL;
  rules.agreement = 0;
  return rules;
}

/// Two phases are the model's choice.
const std::vector<WayCandidate> kCandidates = {{two_phases, 1}, {alone, 1.5}, {library, 2}};

struct Accesses {
  std::vector<int> calls = std::vector<int>(3);
  double seconds = 0;
  std::vector<int> order;
};

Accesses go(WayTuner& tuner, int accesses, const std::function<double(int)>& seconds,
            const WayKey& key = kKey, const std::vector<WayCandidate>& candidates = kCandidates) {
  Accesses result;
  for (int i = 0; i < accesses; ++i) {
    if (!tuner.next(key, candidates[0].way)) tuner.begin(key, candidates);
    const int way = tuner.next(key, candidates[0].way).value_or(candidates[0].way);
    ++result.calls[size_t(way)];
    result.order.push_back(way);
    result.seconds += seconds(way);
    tuner.took(key, seconds(way), kBytes);
  }
  return result;
}

TEST(WayTuner, ShortJobsTakeTheModelsChoice) {
  WayTuner tuner(kNames, rules());
  EXPECT_EQ(go(tuner, 20, [](int) { return 0.01; }).calls[two_phases], 20);
}

TEST(WayTuner, FindsWhatTheModelDidNotKnow) {
  for (const int best : {int(library), int(alone)}) {
    WayTuner tuner(kNames, rules());
    const Accesses done = go(tuner, 600, [&](int way) { return way == best ? 0.001 : 0.01; });
    EXPECT_GT(done.calls[size_t(best)], 300) << kNames[size_t(best)];
    EXPECT_EQ(done.order.back(), best);
    EXPECT_THAT(tuner.why_next(kKey), HasSubstr("by trial: 1 ms against 10 ms of two phases"));
  }
}

TEST(WayTuner, WhatIsAHundredTimesSlowerCostsLittle) {
  for (const int accesses : {30, 100, 300, 1000, 3000}) {
    WayTuner tuner(kNames, rules());
    // The model is wrong by fifty times, so that one call is tried at most.
    const Accesses done =
        go(tuner, accesses, [](int way) { return way == two_phases ? 0.01 : 1.0; });
    EXPECT_LE(done.calls[library] + done.calls[alone], 2) << accesses;
  }
}

TEST(WayTuner, NothingIsDroppedOnOneSample) {
  WayTuner tuner(kNames, rules());
  int calls = 0;
  // The first call of the library makes connections, and takes six times as long.
  const Accesses done = go(tuner, 2000, [&](int way) {
    if (way != library) return 0.01;
    return ++calls == 1 ? 0.06 : 0.002;
  });
  EXPECT_EQ(done.order.back(), library);
}

TEST(WayTuner, TrialsCostNoMoreThanTheBudget) {
  WayTuner tuner(kNames, rules());
  const Accesses done = go(tuner, 1000, [](int way) { return way == two_phases ? 0.01 : 0.02; });
  EXPECT_LT(done.seconds, 1000 * 0.01 * 1.02 + 0.02);
  EXPECT_GT(done.calls[library], 0);
}

TEST(WayTuner, AnotherChoiceOfTheModelBeginsAnew) {
  WayTuner tuner(kNames, rules());
  go(tuner, 50, [](int) { return 0.01; });
  EXPECT_FALSE(tuner.next(kKey, alone));
  tuner.begin(kKey, {{alone, 1}, {library, 2}});
  EXPECT_EQ(tuner.next(kKey, alone), alone);
  EXPECT_EQ(tuner.keys().at(kKey).selection.calls(), 0);
}

TEST(WayTuner, ALaterRunBeginsWithWhatWasDecided) {
  WayTuner first(kNames, rules());
  go(first, 600, [](int way) { return way == library ? 0.001 : 0.01; });
  const std::vector<Decision> decided = first.decided();
  ASSERT_EQ(decided.size(), 1u);
  EXPECT_EQ(decided[0].chosen, "library");
  WayTuner second(kNames, rules());
  second.start_with(decided);
  EXPECT_EQ(go(second, 10, [](int) { return 0.001; }).calls[library], 10);
}

TEST(WayTuner, ProgramsOfEverNewShapesAreBounded) {
  WayTuner tuner(kNames, rules());
  for (int bin = 0; bin < 1000; ++bin) {
    WayKey key = kKey;
    key.hints = uint64_t(bin);
    go(tuner, 1, [](int) { return 0.01; }, key);
  }
  EXPECT_LE(tuner.keys().size(), 256u);
  EXPECT_THAT(tuner.decided(), IsEmpty());
}

}  // namespace
}  // namespace haichi::collectives
