#include "mpiio/agreement/node_agreement.h"

#include <algorithm>
#include <cstring>

namespace haichi::mpiio {

using plan::Slice;
using plan::Step;

void NodeWord::add(const NodeWord& other) {
  window = std::min(window, other.window);
  file_size = std::max(file_size, other.file_size);
  tuning_least = std::min(tuning_least, other.tuning_least);
  tuning_most = std::max(tuning_most, other.tuning_most);
  large += other.large;
  if (other.hull().empty()) return;
  const bool none = hull().empty();
  hull_begin = none ? other.hull_begin : std::min(hull_begin, other.hull_begin);
  hull_end = none ? other.hull_end : std::max(hull_end, other.hull_end);
}

NodeWord word_of(const Announcement& a) {
  NodeWord word{.window = a.window,
                .file_size = a.file_size,
                .tuning_least = a.tuning,
                .tuning_most = a.tuning,
                .large = a.is_large()};
  if (!a.hull().empty()) word.hull_begin = a.hull_begin, word.hull_end = a.hull_end;
  return word;
}

int speaker_of(const placement::Placement& placement, int node) {
  return placement.ranks_on(node).back();
}

NodeAgreement::NodeAgreement(const placement::Placement& placement, int me,
                             const Announcement& announced, std::span<const int> aggregators)
    : placement_(placement),
      me_(me),
      node_(placement.node_of(me)),
      nodes_(placement.nodes()),
      own_(announced),
      aggregators_(aggregators),
      speaks_(speaker_of(placement, node_) == me),
      hears_all_(std::find(aggregators.begin(), aggregators.end(), me) != aggregators.end()) {
  if (speaks_) {
    of_node_.resize(placement.ranks_on(node_).size());
    for (const int rank : aggregators)
      if (placement.same_node(rank, me)) hearers_.push_back(rank);
    std::sort(hearers_.begin(), hearers_.end());
  }
  if (speaks_ || hears_all_) words_.resize(size_t(nodes_));
}

bool NodeAgreement::hears_all(int rank) const {
  return std::binary_search(hearers_.begin(), hearers_.end(), rank);
}

void NodeAgreement::add(Step::Kind kind, int peer, Slice slice) {
  Step step;
  step.kind = kind;
  step.peer = peer;
  step.round = stage_;
  (kind == Step::Kind::send ? step.from : step.to) = slice;
  steps_.push_back(step);
}

void NodeAgreement::end_round() {
  Step step;
  step.kind = Step::Kind::wait;
  step.round = stage_;
  steps_.push_back(step);
}

/// The node's ranks to their speaker.
void NodeAgreement::collect() {
  const Slice whole{own, 0, int64_t(sizeof own_)};
  if (!speaks_) return add(Step::Kind::send, speaker_of(placement_, node_), whole);
  const auto ranks = placement_.ranks_on(node_);
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == me_)
      of_node_[i] = own_;
    else
      add(Step::Kind::receive, ranks[i], {table, int64_t(i * sizeof own_), int64_t(sizeof own_)});
  }
}

/// One round among the speakers: each has the words of `distance` nodes from its own on, and gets
/// those of as many more.
void NodeAgreement::pass_on(int64_t distance) {
  const int64_t count = std::min<int64_t>(distance, nodes_ - distance);
  const int64_t bytes = count * int64_t(sizeof(NodeWord));
  const auto speaker = [&](int64_t node) { return speaker_of(placement_, int(node % nodes_)); };
  add(Step::Kind::receive, speaker(node_ + distance),
      {spoken, distance * int64_t(sizeof(NodeWord)), bytes});
  add(Step::Kind::send, speaker(node_ + nodes_ - distance), {spoken, 0, bytes});
}

void NodeAgreement::order_words() {
  std::rotate(words_.begin(), words_.end() - node_, words_.end());
  for (const NodeWord& word : words_) total_.add(word);
}

/// The speaker to its node's ranks.
void NodeAgreement::give_out() {
  for (const int rank : placement_.ranks_on(node_)) {
    if (rank == me_) continue;
    const Slice all{spoken, 0, int64_t(words_.size() * sizeof(NodeWord))};
    add(Step::Kind::send, rank,
        hears_all(rank) ? all : Slice{result, 0, int64_t(sizeof(NodeWord))});
  }
}

void NodeAgreement::hear() {
  const Slice all{spoken, 0, int64_t(words_.size() * sizeof(NodeWord))};
  add(Step::Kind::receive, speaker_of(placement_, node_),
      hears_all_ ? all : Slice{result, 0, int64_t(sizeof(NodeWord))});
}

/// The steps of the next stage; false at the end. The one before is complete, so that what it
/// brought is there.
bool NodeAgreement::fill() {
  Step round;
  round.kind = Step::Kind::round;
  round.round = stage_;
  steps_.push_back(round);
  if (stage_ == 0) {
    collect();
  } else if (!speaks_) {
    if (stage_ == 2) {
      if (hears_all_)
        for (const NodeWord& word : words_) total_.add(word);
      return false;
    }
    hear();
  } else {
    if (stage_ == 1)
      for (const Announcement& each : of_node_) words_[0].add(word_of(each));
    if (distance_ < nodes_) {
      pass_on(distance_);
      distance_ *= 2;
    } else if (distance_ != INT64_MAX) {
      order_words();
      give_out();
      distance_ = INT64_MAX;
    } else {
      return false;
    }
  }
  end_round();
  ++stage_;
  return true;
}

bool NodeAgreement::next(Step& step) {
  if (at_ == steps_.size()) {
    steps_.clear();
    at_ = 0;
    if (!fill()) {
      steps_.clear();
      return false;
    }
  }
  step = steps_[at_++];
  return true;
}

std::byte* NodeAgreement::contiguous(const Slice& slice) {
  std::byte* const base[] = {
      const_cast<std::byte*>(reinterpret_cast<const std::byte*>(&own_)),  // is only sent
      reinterpret_cast<std::byte*>(of_node_.data()), reinterpret_cast<std::byte*>(words_.data()),
      reinterpret_cast<std::byte*>(&total_)};
  return base[slice.buffer] + slice.begin;
}

void NodeAgreement::gather(const Slice& slice, std::byte* out) {
  memcpy(out, contiguous(slice), size_t(slice.size));
}

void NodeAgreement::scatter(const Slice& slice, const std::byte* in) {
  memcpy(contiguous(slice), in, size_t(slice.size));
}

}  // namespace haichi::mpiio
