#include "mpiio/two_phase.h"

#include <fmt/format.h>

#include <algorithm>

namespace haichi::mpiio {
namespace {

using plan::Step;

Step exchange_step(Step::Kind kind, int peer, plan::Slice from, plan::Slice to) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  step.from = from;
  step.to = to;
  return step;
}

// From this mean size of a rank's pieces on, a system call for each costs less than moving them.
constexpr int64_t kDirectPiece = 512;

}  // namespace

bool may_be_direct(const placement::Placement& placement, const TwoPhaseOptions& options) {
  return placement.nodes() == 1 && options.aggregators == 0 && options.may_go_direct;
}

plan::Aggregators aggregators_for(const placement::Placement& placement,
                                  const TwoPhaseOptions& options) {
  if (may_be_direct(placement, options)) {
    auto all = plan::choose_aggregators(placement, options.layout, placement.ranks(), 0);
    all.why =
        fmt::format("{} aggregators: all ranks, since they are on one node; cb_nodes not given",
                    placement.ranks());
    return all;
  }
  return plan::choose_aggregators(placement, options.layout, options.aggregators,
                                  options.stripe_unit > 0 ? options.stripes : 0);
}

TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const std::vector<RankDemand>& demands) {
  plan::Extent range{INT64_MAX, INT64_MIN};
  int64_t bytes = 0, blocks = 0;
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    range.begin = std::min(range.begin, demand.hull.begin);
    range.end = std::max(range.end, demand.hull.end);
    bytes += demand.bytes;
    blocks += demand.blocks;
  }
  if (range.empty()) range = {};
  TwoPhasePlan result;
  result.direction = direction;
  result.aggregators = aggregators_for(placement, options);
  if (may_be_direct(placement, options) && blocks > 0 && bytes / blocks >= kDirectPiece) {
    result.direct = true;
    result.why.push_back(
        fmt::format("no exchange: all ranks are on one node, and their pieces have {} bytes in the "
                    "mean, at least {}",
                    bytes / blocks, kDirectPiece));
    return result;
  }
  const int count = int(result.aggregators.ranks.size());
  result.domains =
      plan::FileDomains(range, count, options.buffer, options.stripe_unit, options.stripe_unit);
  result.order = options.order;
  result.window = options.window;
  result.why.push_back(result.aggregators.why);
  result.why.push_back(fmt::format("layout {} over {} node{}", name_of(options.layout),
                                   placement.nodes(), placement.nodes() == 1 ? "" : "s"));
  result.why.push_back(fmt::format(
      "{} cycle{}: bytes {} to {} in {} of at most {} bytes", result.domains.cycles(),
      result.domains.cycles() == 1 ? "" : "s", range.begin, range.end,
      options.stripe_unit > 0 ? "stripes" : "even domains cut in windows", options.buffer));
  result.why.push_back(
      fmt::format("messages in order {}, at most {} sends outstanding", name_of(options.order),
                  options.window ? std::to_string(options.window) : "any number of"));
  return result;
}

TwoPhaseSchedule::TwoPhaseSchedule(const placement::Placement& placement, const TwoPhasePlan& plan,
                                   int me, const Access& own, const std::vector<Access>& others)
    : plan_(plan), me_(me), own_(own), others_(others) {
  const std::vector<int>& ranks = plan.aggregators.ranks;
  const plan::PeerOrder order(placement, plan.order, me);
  for (int a = 0; a < int(ranks.size()); ++a) {
    aggregators_in_order_.push_back(a);
    if (ranks[size_t(a)] == me) my_aggregator_ = a;
  }
  std::sort(aggregators_in_order_.begin(), aggregators_in_order_.end(), [&](int a, int b) {
    return order.position_of(ranks[size_t(a)]) < order.position_of(ranks[size_t(b)]);
  });
  if (my_aggregator_ >= 0)
    for (int k = 0; k < order.size(); ++k) {
      const int peer = order.peer(k);
      if (!others[size_t(peer)].empty()) peers_in_order_.push_back(peer);
    }
}

void TwoPhaseSchedule::add_aggregator_side(int64_t cycle, std::vector<Step>& out) const {
  if (my_aggregator_ < 0) return;
  const plan::Extent window = plan_.domains.window(my_aggregator_, cycle);
  if (window.empty()) return;
  for (const int peer : peers_in_order_) {
    if (peer == me_) continue;  // the rank's side copies
    const Access& access = others_[size_t(peer)];
    const int64_t from = access.position_of(window.begin), to = access.position_of(window.end);
    if (from >= to) continue;
    const plan::Slice slice{view_of(peer), from, to - from};
    if (plan_.direction == Direction::write)
      out.push_back(exchange_step(Step::Kind::receive, peer, {}, slice));
    else
      out.push_back(exchange_step(Step::Kind::send, peer, slice, {}));
  }
}

void TwoPhaseSchedule::add_rank_side(int64_t cycle, std::vector<Step>& out) const {
  for (const int a : aggregators_in_order_) {
    const plan::Extent window = plan_.domains.window(a, cycle);
    if (window.empty()) continue;
    const int64_t from = own_.position_of(window.begin), to = own_.position_of(window.end);
    if (from >= to) continue;
    const plan::Slice memory{kOwnMemory, from - own_.begin(), to - from};
    const int peer = plan_.aggregators.ranks[size_t(a)];
    const bool writing = plan_.direction == Direction::write;
    if (peer == me_) {
      const plan::Slice buffer{view_of(me_), from, to - from};
      out.push_back(exchange_step(Step::Kind::copy, me_, writing ? memory : buffer,
                                  writing ? buffer : memory));
    } else if (writing) {
      out.push_back(exchange_step(Step::Kind::send, peer, memory, {}));
    } else {
      out.push_back(exchange_step(Step::Kind::receive, peer, {}, memory));
    }
  }
}

void TwoPhaseSchedule::add_exchange(int64_t cycle) {
  // Receives come first on every rank, so that no send waits for a receive behind another send.
  if (plan_.direction == Direction::write) {
    add_aggregator_side(cycle, steps_);
    add_rank_side(cycle, steps_);
  } else {
    add_rank_side(cycle, steps_);
    add_aggregator_side(cycle, steps_);
  }
}

void TwoPhaseSchedule::fill(int64_t cycle) {
  steps_.clear();
  at_ = 0;
  plan::Extent window;
  if (my_aggregator_ >= 0) window = plan_.domains.window(my_aggregator_, cycle);
  const plan::Slice whole{kCollectiveBuffer, 0, window.size()};
  steps_.emplace_back();  // Kind::round
  if (plan_.direction == Direction::read && !window.empty()) {
    Step read = exchange_step(Step::Kind::file_read, -1, {}, whole);
    read.file_begin = window.begin;
    steps_.push_back(read);
  }
  add_exchange(cycle);
  Step wait;
  wait.kind = Step::Kind::wait_all;
  steps_.push_back(wait);
  if (plan_.direction == Direction::write && !window.empty()) {
    Step write = exchange_step(Step::Kind::file_write, -1, whole, {});
    write.file_begin = window.begin;
    steps_.push_back(write);
  }
  for (Step& step : steps_) step.round = cycle;
}

bool TwoPhaseSchedule::next(Step& step) {
  while (at_ == steps_.size()) {
    if (cycle_ == plan_.domains.cycles()) return false;
    fill(cycle_++);
  }
  step = steps_[at_++];
  return true;
}

}  // namespace haichi::mpiio
