#include "sim/queue_search.h"

#include <algorithm>

namespace haichi::sim {

int64_t Places::add() {
  if (size_t(end_ - first_) == there_.size()) make_room();
  there_[size_t(end_ - first_)] = 1;
  change(size_t(end_ - first_), 1);
  ++size_;
  return end_++;
}

int64_t Places::take(int64_t number) {
  const auto at = size_t(number - first_);
  there_[at] = 0;
  change(at, -1);
  --size_;
  int64_t before = 0;
  for (size_t i = at; i > 0; i -= i & (~i + 1)) before += sums_[i - 1];
  return before;
}

// Entries before the first one that is there are forgotten.
void Places::make_room() {
  const auto first = std::find(there_.begin(), there_.end(), 1);
  const int64_t gone = first - there_.begin();
  there_.erase(there_.begin(), first);
  first_ += gone;
  there_.resize(std::max<size_t>(8, 2 * there_.size()), 0);
  sums_.assign(there_.size(), 0);
  for (size_t at = 0; at < there_.size(); ++at)
    if (there_[at]) change(at, 1);
}

void Places::change(size_t at, int32_t by) {
  for (size_t i = at + 1; i <= sums_.size(); i += i & (~i + 1)) sums_[i - 1] += by;
}

int64_t QueueSearch::offer(int target, int source, Matching::Side side) {
  Rank& rank = ranks_[size_t(target)];
  const auto other =
      side == Matching::Side::receive ? Matching::Side::message : Matching::Side::receive;
  const auto pair = rank.pairs.find(source);
  if (pair == rank.pairs.end() || pair->second.side == side) {
    Pair& waiting = rank.pairs.try_emplace(source, Pair{side, {}}).first->second;
    waiting.numbers.push_back(rank.lists[size_t(side)].add());
    return rank.lists[size_t(other)].size();
  }
  const int64_t number = pair->second.numbers.front();
  pair->second.numbers.pop_front();
  if (pair->second.numbers.empty()) rank.pairs.erase(pair);
  return rank.lists[size_t(other)].take(number) + 1;
}

}  // namespace haichi::sim
