#include "mpi/tuning/tuning_group.h"

#include <map>
#include <new>
#include <utility>
#include <vector>

#include "mpi/tuning/decision_file.h"
#include "mpi/tuning/selection_rules.h"
#include "mpi/tuning/trial_record.h"
#include "plan/order_window.h"
#include "report/kept.h"

namespace haichi::mpi {
namespace {

using collectives::ExchangeKey;
using collectives::TunedExchange;
using plan::OrderWindow;

constexpr size_t kMostGroups = 64;

struct Groups {
  std::mutex mutex;
  std::map<RankSetPtr, std::shared_ptr<TuningGroup>> of;
};

Groups& groups() {
  static Groups* const instance = new Groups;  // never destroyed: hooks may run very late
  return *instance;
}

report::CollectiveRecord record_of(const ExchangeKey& key, const TunedExchange& tuned,
                                   const placement::Placement& placement) {
  std::vector<std::string> names;
  for (const OrderWindow& pair : tuned.pairs) names.push_back(pair.text());
  report::CollectiveRecord record =
      trial_record(key.text(), key.size_bin, tuned.selection, names, placement);
  record.seconds = tuned.seconds;
  record.why = tuned.why;
  return record;
}

}  // namespace

TuningGroup::TuningGroup(Runtime& runtime, RankSetPtr ranks, int rank, int64_t own_id)
    : id(own_id),
      tuner(selection_rules(runtime.settings, TrialsAre::asked_for)),
      runtime_(runtime),
      ranks_(std::move(ranks)),
      rank_(rank) {}

void TuningGroup::keep() const {
  if (rank_ != 0) return;
  write_decisions(runtime_, *ranks_->placement, tuner.decided());
  for (const auto& [key, tuned] : tuner.keys())
    report::keep_collective_record(record_of(key, tuned, *ranks_->placement));
}

std::shared_ptr<TuningGroup> find_tuning(const RankSetPtr& ranks) {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  const auto known = all.of.find(ranks);
  return known == all.of.end() ? nullptr : known->second;
}

bool room_for_tuning() {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  return all.of.size() < kMostGroups;
}

std::shared_ptr<TuningGroup> begin_tuning(Runtime& runtime, const RankSetPtr& ranks, int rank,
                                          MPI_Comm own, int64_t id) try {
  auto group = std::make_shared<TuningGroup>(runtime, ranks, rank, id);
  group->tuner.start_with(read_decisions(runtime, own, *ranks->placement, rank));
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  std::shared_ptr<TuningGroup>& kept = all.of[ranks];
  if (!kept || kept->id < group->id) kept = group;
  return group;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void forget_tuning() {
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  for (const auto& [ranks, group] : all.of) group->keep();
  all.of.clear();
}

}  // namespace haichi::mpi
