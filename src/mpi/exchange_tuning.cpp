#include "mpi/exchange_tuning.h"

#include <algorithm>
#include <map>
#include <new>
#include <numeric>

#include "mpi/decision_file.h"
#include "mpi/selection_rules.h"
#include "mpi/trial_record.h"
#include "plan/order_window.h"
#include "report/kept.h"

namespace haichi::mpi {
namespace {

using collectives::ExchangeKey;
using collectives::TunedExchange;
using plan::OrderWindow;

constexpr size_t kMostGroups = 64;
// Messages of a cycle are issued before those of the one before it are waited for.
constexpr int kCyclesUnderWay = 2;

struct Groups {
  std::mutex mutex;
  std::map<RankSetPtr, std::shared_ptr<TuningGroup>> of;
};

Groups& groups() {
  static Groups* const instance = new Groups;  // never destroyed: hooks may run very late
  return *instance;
}

/// True if the plan has messages between nodes, as far as that is known.
bool crosses(const placement::Placement& placement, const mpiio::TwoPhasePlan& plan) {
  return placement.nodes() > 1 && plan.domains.cycles() > 0 && plan.must_cross != 0;
}

std::vector<OrderWindow> pairs_of(const placement::Placement& placement,
                                  const mpiio::TwoPhasePlan& plan) {
  std::vector<int> ranks(size_t(placement.ranks()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::vector<int>& aggregators = plan.aggregators.ranks;
  const bool writing = plan.direction == mpiio::Direction::write;
  return plan::pairs_to_try(
      placement,
      {writing ? ranks : aggregators, writing ? aggregators : ranks, !plan.shares, kCyclesUnderWay},
      {plan.order, plan.window});
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

TuningGroup::TuningGroup(const FileGroup& group, int64_t own_id)
    : id(own_id),
      tuner(selection_rules(group.runtime.settings, TrialsAre::asked_for)),
      runtime_(group.runtime),
      ranks_(group.ranks),
      rank_(group.rank) {}

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

std::shared_ptr<TuningGroup> begin_tuning(const FileGroup& of, int64_t id) try {
  auto group = std::make_shared<TuningGroup>(of, id);
  group->tuner.start_with(read_decisions(of.runtime, of.comm, of.placement, of.rank));
  Groups& all = groups();
  const std::lock_guard guard(all.mutex);
  std::shared_ptr<TuningGroup>& kept = all.of[of.ranks];
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

TunedAccess::TunedAccess(FileState& state) : state_(state) {
  if (!state.group->tuning || !state.wants_tuning()) return;
  turn_ = std::unique_lock(state.group->tuning->mutex, std::try_to_lock);
  if (turn_) announced_ = state.group->tuning->tuner.told();
}

void TunedAccess::choose(mpiio::TwoPhasePlan& plan, const Tunings& all, int64_t bytes) {
  if (announced_ == 0) return;
  TuningGroup& group = *state_.group->tuning;
  if (all.least != announced_ || all.most != announced_) {
    const bool some_have_none = all.least == 0 && all.most == announced_;
    if (!some_have_none && !group.parted) {
      group.parted = true;
      state_.runtime.note("order and window are not tuned: the ranks' trials differ");
    }
    return;
  }
  if (!crosses(state_.placement, plan)) return;
  bytes_ = bytes / state_.placement.ranks();
  const ExchangeKey key = {plan.direction == mpiio::Direction::write, collectives::bin_of(bytes_),
                           collectives::bin_of(plan.message), int(plan.aggregators.ranks.size()),
                           plan.stream_part > 0};
  const TunedExchange* tuned = group.tuner.find(key);
  if (tuned == nullptr) tuned = &group.tuner.begin(key, pairs_of(state_.placement, plan));
  const OrderWindow pair = tuned->next();
  mpiio::issue_otherwise(plan, pair.order, pair.window, group.tuner.why_next(key));
  key_ = key;
}

void TunedAccess::took(int64_t ns) {
  if (key_) state_.group->tuning->tuner.took(*key_, double(ns) * 1e-9, bytes_);
}

}  // namespace haichi::mpi
