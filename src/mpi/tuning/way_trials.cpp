#include "mpi/tuning/way_trials.h"

#include <cmath>

#include "collectives/size_bin.h"
#include "mpi/tuning/decision_file.h"
#include "mpi/tuning/selection_rules.h"
#include "mpi/tuning/trial_record.h"
#include "report/kept.h"

namespace haichi::mpi {
namespace {

using collectives::WayKey;
using mpiio::Way;

// Calls of the model's choice before anything else is tried; the first does not count.
constexpr int kUsualCalls = 5;

collectives::SelectionRules rules_of(const Settings& settings) {
  collectives::SelectionRules rules = selection_rules(settings, TrialsAre::budgeted, "io.budget");
  rules.usual_calls = kUsualCalls;
  // Nothing is dropped on one sample, however slow: the first access of a way opens connections and
  // touches memory.
  rules.absurd = HUGE_VAL;
  // The ranks agree on times with accesses that they agree about anyway.
  rules.agreement = 0;
  return rules;
}

std::vector<std::string> names_of_ways() {
  std::vector<std::string> names;
  for (const Way way : {Way::library, Way::alone, Way::two_phase, Way::balanced})
    names.emplace_back(name_of(way));
  return names;
}

WayKey key_of(mpiio::Direction direction, const mpiio::Demand& demand, uint64_t hints) {
  return {.writing = direction == mpiio::Direction::write,
          .apart = demand.apart(),
          .hints = hints * 2 + uint64_t(demand.all_open),
          .size_bin = collectives::bin_of(demand.most),
          .pieces_bin = collectives::bin_of(demand.blocks),
          .ranks_bin = collectives::bin_of(demand.ranks)};
}

}  // namespace

WayTrials::WayTrials(Runtime& runtime)
    : tuner(names_of_ways(), rules_of(runtime.settings)), runtime_(runtime) {}

void WayTrials::keep(const placement::Placement& placement) const {
  write_decisions(runtime_, placement, tuner.decided());
  if (!runtime_.reports) return;
  for (const auto& [key, tuned] : tuner.keys()) {
    if (!tuner.tried(tuned)) continue;
    std::vector<std::string> names;
    for (const int way : tuned.ways) names.push_back(tuner.name(way));
    report::CollectiveRecord record =
        trial_record(key.text(), key.size_bin, tuned.selection, names, placement);
    record.why = tuned.why;
    report::keep_collective_record(std::move(record));
  }
}

void WayTrials::agreed(int64_t slowest_ns) {
  if (last_ && slowest_ns != kNotKnown)
    tuner.took(last_->key, double(slowest_ns) * 1e-9, last_->bytes);
  last_.reset();
  next_.reset();
  last_ns_ = kNotKnown;
}

mpiio::WayChoice WayTrials::choose(mpiio::Direction direction, const mpiio::Demand& demand,
                                   uint64_t hints, const mpiio::WayChoice& model,
                                   const mpiio::CostsOfWays& costs) {
  const WayKey key = key_of(direction, demand, hints);
  std::optional<int> way = tuner.next(key, int(model.way));
  if (!way) {
    std::vector<collectives::WayCandidate> candidates;
    for (const mpiio::WayCost& each : costs()) candidates.push_back({int(each.way), each.seconds});
    tuner.begin(key, candidates);
    way = tuner.next(key, int(model.way));
  }
  if (!way) return model;
  next_ = Access{key, demand.most};
  if (Way(*way) == model.way) return model;
  return {Way(*way), mpiio::WayReason::measured};
}

void WayTrials::begin(int64_t now_ns) {
  last_ = next_;
  ++number_;
  if (last_) last_->begin_ns = now_ns;
}

void WayTrials::end(int64_t now_ns) { end_split(number_, since_begin_ns(now_ns)); }

void WayTrials::end_split(int64_t number, int64_t spent_ns) {
  if (last_ && last_ns_ == kNotKnown && number == number_) last_ns_ = spent_ns;
}

}  // namespace haichi::mpi
