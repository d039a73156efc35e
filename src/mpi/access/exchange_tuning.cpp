#include "mpi/access/exchange_tuning.h"

#include <numeric>
#include <vector>

#include "mpi/tuning/tuning_group.h"
#include "plan/order_window.h"

namespace haichi::mpi {
namespace {

using collectives::ExchangeKey;
using collectives::TunedExchange;
using plan::OrderWindow;

// Messages of a cycle are issued before those of the one before it are waited for.
constexpr int kCyclesUnderWay = 2;

/// True if the plan has messages between nodes, as far as that is known.
bool crosses(const placement::Placement& placement, const mpiio::TwoPhasePlan& plan) {
  return placement.nodes() > 1 && plan.domains.cycles() > 0 && plan.min_internode_bytes != 0;
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
      {plan.order, plan.max_outstanding});
}

}  // namespace

TunedAccess::TunedAccess(FileState& state) : state_(state) {
  if (!state.group->tuning || !state.options.wants_tuning()) return;
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
  mpiio::override_issue_order(plan, pair.order, pair.window, group.tuner.why_next(key));
  key_ = key;
}

void TunedAccess::took(int64_t ns) {
  if (key_) state_.group->tuning->tuner.took(*key_, double(ns) * 1e-9, bytes_);
}

}  // namespace haichi::mpi
