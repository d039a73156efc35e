#include "mpiio/two_phase.h"

#include <fmt/format.h>

#include <algorithm>

#include "mpiio/domains_by_bytes.h"
#include "mpiio/read_cost.h"

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

// From this mean size of a rank's pieces on, a system call for each write costs less than moving
// them: it takes the file's lock and looks for its pages.
constexpr int64_t kDirectWrite = 16 << 10;
// The same where the file system is behind a network, and a request costs a round trip to a server.
constexpr int64_t kDirectPieceApart = 1 << 20;
// A window is not made smaller than this only to have more cycles that overlap.
constexpr int64_t kLeastWindow = 128 << 10;
// As many cycles as overlapping is worth: its gain is the part of the first and the last.
constexpr int64_t kOverlappingCycles = 8;

plan::Extent range_of(const std::vector<RankDemand>& demands) {
  plan::Extent range{INT64_MAX, INT64_MIN};
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    range.begin = std::min(range.begin, demand.hull.begin);
    range.end = std::max(range.end, demand.hull.end);
  }
  return range.empty() ? plan::Extent{} : range;
}

/// Why every rank of a single node shall read the file itself, or empty.
std::string why_read_alone(const std::vector<RankDemand>& demands) {
  double alone = 0, exchange = 0;
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    const ReadSize size{demand.bytes, demand.blocks, demand.sieved};
    alone += cost_alone(size);
    exchange += cost_of_exchange(size);
  }
  if (alone > exchange) return "";
  return fmt::format(
      "no exchange: all ranks are on one node, and reading alone should take {:.1f} ms of a "
      "processor, through windows {:.1f} ms",
      alone * 1e-6, exchange * 1e-6);
}

/// Why every rank shall access the file itself, or empty.
std::string why_direct(const placement::Placement& placement, const TwoPhaseOptions& options,
                       Direction direction, const std::vector<RankDemand>& demands) {
  if (options.aggregators > 0 || options.per_node > 0 || !options.may_go_direct) return "";
  int64_t bytes = 0, blocks = 0;
  for (const RankDemand& demand : demands) {
    if (demand.hull.empty()) continue;
    if (!demand.has_file) return "";
    bytes += demand.bytes;
    blocks += demand.blocks;
  }
  if (blocks == 0) return "";
  const bool apart = placement.nodes() > 1;
  if (!apart && direction == Direction::read) return why_read_alone(demands);
  const int64_t least = apart ? kDirectPieceApart : kDirectWrite;
  if (bytes / blocks < least) return "";
  return fmt::format("no exchange: {}their pieces have {} bytes in the mean, at least {}",
                     apart ? "" : "all ranks are on one node, and ", bytes / blocks, least);
}

/// Empty if the aggregators shall access the file between exchanging, or why a thread shall.
std::string why_file_thread(const placement::Placement& placement, const TwoPhaseOptions& options,
                            int64_t cycles) {
  if (cycles < 2 || options.file_thread == FileThread::off) return "";
  // On a single node the ranks copy, and have no processor to spare.
  if (placement.nodes() == 1 && options.file_thread != FileThread::on) return "";
  return "a thread of each aggregator accesses the file while messages travel";
}

int64_t window_size(const plan::Extent& range, int aggregators, const TwoPhaseOptions& options) {
  const int64_t half = std::max<int64_t>(1, options.buffer / 2);
  if (!options.may_shrink) return half;
  const int64_t domain = range.size() / aggregators + 1;
  const int64_t wanted = std::max(kLeastWindow, domain / kOverlappingCycles);
  return std::min(half, (wanted + 4095) / 4096 * 4096);
}

}  // namespace

bool may_be_direct(const placement::Placement& placement, const TwoPhaseOptions& options) {
  return placement.nodes() == 1 && options.aggregators == 0 && options.per_node == 0 &&
         options.may_go_direct;
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
                                  options.stripe_unit > 0 ? options.stripes : 0, options.per_node);
}

TwoPhasePlan plan_two_phase(const placement::Placement& placement, const TwoPhaseOptions& options,
                            Direction direction, const std::vector<RankDemand>& demands) {
  TwoPhasePlan result;
  result.direction = direction;
  result.aggregators = aggregators_for(placement, options);
  if (std::string why = why_direct(placement, options, direction, demands); !why.empty()) {
    result.direct = true;
    result.why.push_back(std::move(why));
    return result;
  }
  const plan::Extent range = range_of(demands);
  const int count = int(result.aggregators.ranks.size());
  result.window_bytes = window_size(range, count, options);
  result.domains = plan::FileDomains(range, count, result.window_bytes, options.stripe_unit,
                                     options.stripe_unit);
  result.order = options.order;
  result.window = options.window;
  result.shares = options.may_share;
  result.why.push_back(result.aggregators.why);
  result.why.push_back(fmt::format("layout {} over {} node{}", name_of(options.layout),
                                   placement.nodes(), placement.nodes() == 1 ? "" : "s"));
  std::string how = options.stripe_unit > 0 ? "stripes" : "even domains";
  if (may_go_by_bytes(placement, options)) {
    if (auto local = domains_by_bytes(placement, result, range, demands)) {
      if (local->domains) {
        result.domains = std::move(*local->domains);
        how = "domains";
      }
      result.why.push_back(std::move(local->why));
      result.must_cross = local->must_cross;
    }
  }
  result.why.push_back(
      fmt::format("{} cycle{}: bytes {} to {} in {} cut in windows of at most {} bytes",
                  result.domains.cycles(), result.domains.cycles() == 1 ? "" : "s", range.begin,
                  range.end, how, result.window_bytes));
  std::string thread = why_file_thread(placement, options, result.domains.cycles());
  result.file_thread = !thread.empty();
  if (result.file_thread) result.why.push_back(std::move(thread));
  result.why.push_back(
      fmt::format("messages in order {}, at most {} sends outstanding", name_of(options.order),
                  options.window ? std::to_string(options.window) : "any number of"));
  return result;
}

TwoPhaseSchedule::TwoPhaseSchedule(const placement::Placement& placement, const TwoPhasePlan& plan,
                                   int me, const Access& own, const std::vector<Access>& others,
                                   bool shares)
    : plan_(plan), placement_(placement), me_(me), own_(own), others_(others), shares_(shares) {
  const std::vector<int>& ranks = plan.aggregators.ranks;
  const plan::PeerOrder order(placement, plan.order, me);
  for (int a = 0; a < int(ranks.size()); ++a) {
    aggregators_in_order_.push_back(a);
    if (ranks[size_t(a)] == me) my_aggregator_ = a;
    meets_ = meets_ || (shares && placement.same_node(ranks[size_t(a)], me));
  }
  meets_ = meets_ && placement.ranks_on(placement.node_of(me)).size() > 1;
  std::sort(aggregators_in_order_.begin(), aggregators_in_order_.end(), [&](int a, int b) {
    return order.position_of(ranks[size_t(a)]) < order.position_of(ranks[size_t(b)]);
  });
  if (my_aggregator_ >= 0)
    for (int k = 0; k < order.size(); ++k) {
      const int peer = order.peer(k);
      if (!others[size_t(peer)].empty() && !copies(peer)) peers_in_order_.push_back(peer);
    }
}

bool TwoPhaseSchedule::copies(int peer) const {
  return peer == me_ || (shares_ && placement_.same_node(peer, me_));
}

void TwoPhaseSchedule::add_aggregator_side(int64_t cycle) {
  if (my_aggregator_ < 0) return;
  const plan::Extent window = plan_.domains.window(my_aggregator_, cycle);
  if (window.empty()) return;
  for (const int peer : peers_in_order_) {
    const Access& access = others_[size_t(peer)];
    const int64_t from = access.position_of(window.begin), to = access.position_of(window.end);
    if (from >= to) continue;
    const plan::Slice slice{place(Place::Kind::view, cycle, peer), from, to - from};
    if (plan_.direction == Direction::write)
      add(cycle, exchange_step(Step::Kind::receive, peer, {}, slice));
    else
      add(cycle, exchange_step(Step::Kind::send, peer, slice, {}));
  }
}

void TwoPhaseSchedule::add_rank_side(int64_t cycle, bool copied) {
  const bool writing = plan_.direction == Direction::write;
  for (const int a : aggregators_in_order_) {
    const int peer = plan_.aggregators.ranks[size_t(a)];
    if (copies(peer) != copied) continue;
    const plan::Extent window = plan_.domains.window(a, cycle);
    if (window.empty()) continue;
    const int64_t from = own_.position_of(window.begin), to = own_.position_of(window.end);
    if (from >= to) continue;
    const plan::Slice memory{Place{}.number(), from - own_.begin(), to - from};
    const plan::Slice there{place(Place::Kind::others, cycle, a), from, to - from};
    if (copied)
      add(cycle, exchange_step(Step::Kind::copy, peer, writing ? memory : there,
                               writing ? there : memory));
    else if (writing)
      add(cycle, exchange_step(Step::Kind::send, peer, memory, {}));
    else
      add(cycle, exchange_step(Step::Kind::receive, peer, {}, memory));
  }
}

void TwoPhaseSchedule::add_messages(int64_t cycle) {
  // Receives come first on every rank, so that no send waits for a receive behind another send.
  if (plan_.direction == Direction::write) {
    add_aggregator_side(cycle);
    add_rank_side(cycle, false);
  } else {
    add_rank_side(cycle, false);
    add_aggregator_side(cycle);
  }
}

void TwoPhaseSchedule::add_file_access(int64_t cycle) {
  if (my_aggregator_ < 0) return;
  const plan::Extent window = plan_.domains.window(my_aggregator_, cycle);
  if (window.empty()) return;
  const bool writing = plan_.direction == Direction::write;
  const plan::Slice whole{place(Place::Kind::window, cycle, 0), 0, window.size()};
  Step access = exchange_step(writing ? Step::Kind::file_write : Step::Kind::file_read, -1,
                              writing ? whole : plan::Slice{}, writing ? plan::Slice{} : whole);
  access.file_begin = window.begin;
  add(cycle, access);
}

void TwoPhaseSchedule::add_file_wait(int64_t cycle) {
  if (my_aggregator_ >= 0 && !plan_.domains.window(my_aggregator_, cycle).empty())
    add_plain(cycle, Step::Kind::file_wait);
}

void TwoPhaseSchedule::add_plain(int64_t cycle, Step::Kind kind) {
  Step step;
  step.kind = kind;
  add(cycle, step);
}

// See "Overlapping cycles" in docs/notes.md for why the windows are free when they are used.
void TwoPhaseSchedule::fill_writing(int64_t cycle) {
  auto issue = [&](int64_t c) {
    add_plain(c, Step::Kind::round);
    add_messages(c);
  };
  if (cycle == 0) {
    issue(0);
    add_rank_side(0, true);
  }
  const bool last = cycle + 1 == plan_.domains.cycles();
  if (cycle > 0) add_file_wait(cycle - 1);
  if (!last) issue(cycle + 1);
  add_plain(cycle, Step::Kind::wait);
  if (meets_) add_plain(cycle, Step::Kind::node_meet);
  add_file_access(cycle);
  if (!last) add_rank_side(cycle + 1, true);
  if (last) add_file_wait(cycle);
}

void TwoPhaseSchedule::fill_reading(int64_t cycle) {
  auto read = [&](int64_t c) {
    add_plain(c, Step::Kind::round);
    add_file_access(c);
  };
  if (cycle == 0) read(0);
  add_file_wait(cycle);
  add_messages(cycle);
  if (cycle > 0) add_plain(cycle - 1, Step::Kind::wait);
  if (meets_) add_plain(cycle, Step::Kind::node_meet);
  if (cycle + 1 < plan_.domains.cycles()) read(cycle + 1);
  add_rank_side(cycle, true);
}

bool TwoPhaseSchedule::next(Step& step) {
  while (at_ == steps_.size()) {
    if (cycle_ == plan_.domains.cycles()) return false;
    steps_.clear();
    at_ = 0;
    plan_.direction == Direction::write ? fill_writing(cycle_) : fill_reading(cycle_);
    ++cycle_;
  }
  step = steps_[at_++];
  return true;
}

}  // namespace haichi::mpiio
