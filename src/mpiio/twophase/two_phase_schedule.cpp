#include "mpiio/twophase/two_phase_schedule.h"

#include <algorithm>

#include "mpiio/agreement/announcement.h"

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

// The cycles of streams before the first of the access: a meeting each.
constexpr int64_t kFirstStage = -2;

}  // namespace

TwoPhaseSchedule::TwoPhaseSchedule(const placement::Placement& placement, const TwoPhasePlan& plan,
                                   int me, const Access& own, const AccessList& others, bool shares,
                                   const NodeStreams* streams)
    : plan_(plan),
      placement_(placement),
      me_(me),
      own_(own),
      others_(others),
      shares_(shares),
      node_(placement.node_of(me)),
      streams_(streams),
      streaming_(streams && streams->from(node_)) {
  const std::vector<int>& ranks = plan.aggregators.ranks;
  const plan::PeerOrder order(placement, plan.order, me);
  const plan::Extent hull = own.hull();
  bool windows_here = false;
  for (int a = 0; a < int(ranks.size()); ++a) {
    if (streaming_ || meets(plan.domains.hull(a), hull)) aggregators_in_order_.push_back(a);
    if (ranks[size_t(a)] == me) my_aggregator_ = a;
    windows_here = windows_here || placement.same_node(ranks[size_t(a)], me);
  }
  const bool alone = placement.ranks_on(node_).size() < 2;
  meets_ = streaming_ || (shares && windows_here && !alone);
  in_common_ = meets_ && placement.nodes() == 1 && plan.cb_slots > 2;
  if (streaming_) {
    cycle_ = kFirstStage;
    told_.resize(size_t(NodeStreams::kCycles) * ranks.size());
  }
  std::sort(aggregators_in_order_.begin(), aggregators_in_order_.end(), [&](int a, int b) {
    return order.position_of(ranks[size_t(a)]) < order.position_of(ranks[size_t(b)]);
  });
  if (my_aggregator_ >= 0) find_peers(order);
}

/// With whom this aggregator exchanges messages: ranks that have bytes for it, or who speaks for
/// their node.
void TwoPhaseSchedule::find_peers(const plan::PeerOrder& order) {
  const auto ranks = others_.ranks();
  const auto accesses = others_.accesses();
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (accesses[i].empty()) continue;
    if (speaks_for_node(ranks[i]))
      peers_in_order_.push_back(streams_->speaker(placement_.node_of(ranks[i]), my_aggregator_));
    else if (!copies(ranks[i]))
      peers_in_order_.push_back(ranks[i]);
  }
  std::sort(peers_in_order_.begin(), peers_in_order_.end(),
            [&](int a, int b) { return order.position_of(a) < order.position_of(b); });
  peers_in_order_.erase(std::unique(peers_in_order_.begin(), peers_in_order_.end()),
                        peers_in_order_.end());
}

bool TwoPhaseSchedule::copies(int peer) const {
  return peer == me_ || (shares_ && placement_.same_node(peer, me_));
}

/// True if this aggregator may exchange streams with the peer's node.
bool TwoPhaseSchedule::speaks_for_node(int peer) const {
  const int node = placement_.node_of(peer);
  return streams_ && !placement_.same_node(peer, me_) && streams_->from(node);
}

void TwoPhaseSchedule::add_aggregator_side(int64_t cycle) {
  if (my_aggregator_ < 0 || plan_.domains.window(my_aggregator_, cycle).empty()) return;
  for (const int peer : peers_in_order_) {
    if (!speaks_for_node(peer)) {
      add_message_of(cycle, peer);
    } else if (const int node = placement_.node_of(peer); !add_stream_of(cycle, node)) {
      for (const int each : placement_.ranks_on(node)) add_message_of(cycle, each);
    }
  }
}

void TwoPhaseSchedule::add_message_of(int64_t cycle, int peer) {
  const Part part = part_of(others_[peer], plan_.domains.window(my_aggregator_, cycle));
  if (part.size() <= 0) return;
  const plan::Slice slice{place(Place::Kind::view, cycle, peer), part.begin, part.size()};
  if (plan_.direction == Direction::write)
    add(cycle, exchange_step(Step::Kind::receive, peer, {}, slice));
  else
    add(cycle, exchange_step(Step::Kind::send, peer, slice, {}));
}

/// The message for all ranks of the node; false if each of them has its own.
bool TwoPhaseSchedule::add_stream_of(int64_t cycle, int node) {
  const plan::Extent window = plan_.domains.window(my_aggregator_, cycle);
  int64_t bytes = 0;
  for (const int peer : placement_.ranks_on(node)) bytes += part_of(others_[peer], window).size();
  if (bytes > streams_->most(node)) return false;
  if (bytes == 0) return true;
  const int peer = streams_->speaker(node, my_aggregator_);
  const plan::Slice slice{place(Place::Kind::node_view, cycle, node), 0, bytes};
  if (plan_.direction == Direction::write)
    add(cycle, exchange_step(Step::Kind::receive, peer, {}, slice));
  else
    add(cycle, exchange_step(Step::Kind::send, peer, slice, {}));
  return true;
}

void TwoPhaseSchedule::add_rank_side(int64_t cycle, bool copied) {
  const bool writing = plan_.direction == Direction::write;
  for (const int a : aggregators_in_order_) {
    const int peer = plan_.aggregators.ranks[size_t(a)];
    if (copies(peer) != copied) continue;
    const Part part = part_of(own_, plan_.domains.window(a, cycle));
    if (add_own_stream(cycle, a, part.size()) || part.size() <= 0) continue;
    const plan::Slice memory{Place{}.number(), part.begin - own_.begin(), part.size()};
    const plan::Slice there{place(Place::Kind::others, cycle, a), part.begin, part.size()};
    if (copied)
      add(cycle, exchange_step(Step::Kind::copy, peer, writing ? memory : there,
                               writing ? there : memory));
    else if (writing)
      add(cycle, exchange_step(Step::Kind::send, peer, memory, {}));
    else
      add(cycle, exchange_step(Step::Kind::receive, peer, {}, memory));
  }
}

/// True if this rank has to know what its node has for an aggregator on another one. Most ranks of
/// a large node need not: to add up takes as long as there are ranks.
bool TwoPhaseSchedule::needs_sum(int aggregator, int64_t bytes) const {
  return bytes > 0 || streams_->speaker(node_, aggregator) == me_;
}

/// True if what this rank has for the aggregator is part of a stream, whose message is added if
/// this rank speaks for its node. `bytes`: what it has.
bool TwoPhaseSchedule::add_own_stream(int64_t cycle, int aggregator, int64_t bytes) {
  if (!streaming_ || !is_elsewhere(aggregator)) return false;
  if (!needs_sum(aggregator, bytes)) return true;
  const int64_t all = told(cycle, aggregator).node.all;
  if (all > streams_->most(node_)) return false;
  if (all == 0 || streams_->speaker(node_, aggregator) != me_) return true;
  const int peer = plan_.aggregators.ranks[size_t(aggregator)];
  const plan::Slice slice{place(Place::Kind::stream, cycle, 0),
                          streams_->slot(node_, cycle, aggregator), all};
  if (plan_.direction == Direction::write)
    add(cycle, exchange_step(Step::Kind::send, peer, slice, {}));
  else
    add(cycle, exchange_step(Step::Kind::receive, peer, {}, slice));
  return true;
}

/// This rank's copies into (from) the streams of a cycle. They have no peer: their bytes are only
/// on their way.
void TwoPhaseSchedule::add_stream_copies(int64_t cycle, int64_t round) {
  const bool writing = plan_.direction == Direction::write;
  for (const int a : aggregators_in_order_) {
    if (!is_elsewhere(a)) continue;
    const Part part = part_of(own_, plan_.domains.window(a, cycle));
    if (part.size() <= 0) continue;
    const plan::NodeSum& node = told(cycle, a).node;
    if (node.all > streams_->most(node_)) continue;
    const plan::Slice memory{Place{}.number(), part.begin - own_.begin(), part.size()};
    const plan::Slice there{place(Place::Kind::stream, cycle, 0),
                            streams_->slot(node_, cycle, a) + node.before, part.size()};
    add(round,
        exchange_step(Step::Kind::copy, -1, writing ? memory : there, writing ? there : memory));
  }
}

/// Tells the node what this rank has for aggregators on others.
void TwoPhaseSchedule::add_tells(int64_t cycle) {
  if (cycle >= plan_.domains.cycles()) return;
  for (const int a : aggregators_in_order_) {
    if (!is_elsewhere(a)) continue;
    const int64_t cell = streams_->cell(cycle, a);
    const int64_t bytes = part_of(own_, plan_.domains.window(a, cycle)).size();
    told_[size_t(cell)].bytes = bytes;
    steps_.push_back({.kind = Step::Kind::node_tell, .cell = cell, .number = bytes});
  }
}

/// Asks what the node has for them, behind the meeting after it was told.
void TwoPhaseSchedule::add_sums(int64_t cycle) {
  if (cycle >= plan_.domains.cycles()) return;
  for (const int a : aggregators_in_order_) {
    if (!is_elsewhere(a)) continue;
    const int64_t cell = streams_->cell(cycle, a);
    Told& told = told_[size_t(cell)];
    if (needs_sum(a, told.bytes))
      steps_.push_back({.kind = Step::Kind::node_sum, .cell = cell, .sum = &told.node});
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
  const plan::WindowLayout window = plan_.domains.layout(my_aggregator_, cycle);
  if (window.bytes() == 0) return;
  const bool writing = plan_.direction == Direction::write;
  const plan::Slice whole{place(Place::Kind::window, cycle, 0), 0, window.bytes()};
  Step access = exchange_step(writing ? Step::Kind::file_write : Step::Kind::file_read, -1,
                              writing ? whole : plan::Slice{}, writing ? plan::Slice{} : whole);
  access.file_begin = window.hull().begin;
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

// See "Streams of a node" in docs/notes.md for why a cell of the table and an area are free when
// they are used.
void TwoPhaseSchedule::begin_streams(int64_t stage) {
  const bool writing = plan_.direction == Direction::write;
  if (stage == kFirstStage) {
    const int64_t known = writing ? NodeStreams::kCycles : 1;
    for (int64_t c = 0; c < known; ++c) add_tells(c);
    add_plain(0, Step::Kind::node_meet);
    for (int64_t c = 0; c < known; ++c) add_sums(c);
  } else if (writing) {
    for (int64_t c = 0; c < std::min<int64_t>(2, plan_.domains.cycles()); ++c)
      add_stream_copies(c, 0);
    add_plain(0, Step::Kind::node_meet);
  }
}

void TwoPhaseSchedule::end_streams() {
  const int64_t last = plan_.domains.cycles() - 1;
  add_plain(last, Step::Kind::wait);
  add_plain(last, Step::Kind::node_meet);
  add_stream_copies(last, last);
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
  if (streaming_) {
    add_tells(cycle + 3);
    if (cycle + 2 < plan_.domains.cycles()) add_stream_copies(cycle + 2, cycle + 1);
  }
  add_plain(cycle, Step::Kind::wait);
  if (meets_) add_plain(cycle, Step::Kind::node_meet);
  if (streaming_) add_sums(cycle + 3);
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
  if (streaming_) add_tells(cycle + 1);
  if (cycle > 0) add_plain(cycle - 1, Step::Kind::wait);
  if (meets_) add_plain(cycle, Step::Kind::node_meet);
  if (streaming_) add_sums(cycle + 1);
  if (cycle + 1 < plan_.domains.cycles()) read(cycle + 1);
  add_rank_side(cycle, true);
  if (streaming_ && cycle > 0) add_stream_copies(cycle - 1, cycle);
}

// What a rank says by arriving at meeting k: what it has for cycle k is in place, and its window of
// k - 2 is written. So nobody waits for the access of k - 1, which others may still be at.
void TwoPhaseSchedule::fill_writing_in_common(int64_t cycle) {
  const bool last = cycle + 1 == plan_.domains.cycles();
  auto put = [&](int64_t c) {
    add_plain(c, Step::Kind::round);
    add_rank_side(c, true);
    add_plain(c, Step::Kind::wait);
    if (c > 1) add_file_wait(c - 2);
    add_plain(c, Step::Kind::node_arrive);
  };
  if (cycle == 0) put(0);
  add_plain(cycle, Step::Kind::node_meet);
  if (!last) put(cycle + 1);
  if (last && cycle > 0) add_file_wait(cycle - 1);
  add_file_access(cycle);
  if (last) add_file_wait(cycle);
}

// Arriving at meeting k says that the window of k is read, and that what this rank wanted of k - 2
// is in its memory.
void TwoPhaseSchedule::fill_reading_in_common(int64_t cycle) {
  auto read = [&](int64_t c) {
    add_plain(c, Step::Kind::round);
    add_file_access(c);
    add_file_wait(c);
    add_plain(c, Step::Kind::node_arrive);
  };
  if (cycle == 0) read(0);
  add_plain(cycle, Step::Kind::node_meet);
  if (cycle + 1 < plan_.domains.cycles()) read(cycle + 1);
  add_rank_side(cycle, true);
  add_plain(cycle, Step::Kind::wait);
}

/// The steps of `cycle_`, of what comes before the first or behind the last; false at the end.
bool TwoPhaseSchedule::fill() {
  const int64_t cycles = plan_.domains.cycles();
  const bool reading = plan_.direction == Direction::read;
  if (cycles == 0 || cycle_ >= cycles + (streaming_ && reading ? 1 : 0)) return false;
  if (cycle_ < 0)
    begin_streams(cycle_);
  else if (cycle_ == cycles)
    end_streams();
  else if (in_common_)
    reading ? fill_reading_in_common(cycle_) : fill_writing_in_common(cycle_);
  else
    reading ? fill_reading(cycle_) : fill_writing(cycle_);
  ++cycle_;
  return true;
}

bool TwoPhaseSchedule::next(Step& step) {
  while (at_ == steps_.size()) {
    steps_.clear();
    at_ = 0;
    if (!fill()) return false;
  }
  step = steps_[at_++];
  return true;
}

}  // namespace haichi::mpiio
