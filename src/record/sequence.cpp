#include "record/sequence.h"

#include "record/saturating.h"

namespace haichi::record {
namespace {

uint64_t length(const std::vector<Item>& body) {
  uint64_t sum = 0;
  for (const Item& item : body)
    sum = plus(sum, item.event >= 0 ? item.times : times(item.times, length(item.body)));
  return sum;
}

}  // namespace

uint64_t length(const Sequence& sequence) { return length(sequence.program); }

Unfolded::Unfolded(const Sequence& sequence) { levels_.push_back({&sequence.program, 0, 0, 1}); }

std::optional<int> Unfolded::next() {
  while (!levels_.empty()) {
    Level& level = levels_.back();
    if (level.at == level.body->size()) {
      level.at = 0;
      if (--level.times_left == 0) levels_.pop_back();
      continue;
    }
    const Item& item = (*level.body)[level.at];
    if (item.event < 0) {
      ++level.at;
      if (item.times > 0 && !item.body.empty()) levels_.push_back({&item.body, 0, 0, item.times});
      continue;
    }
    // An event may have a count of its own; of one that has none left the next is at hand.
    if (level.done < item.times) {
      ++level.done;
      return item.event;
    }
    level.done = 0;
    ++level.at;
  }
  return std::nullopt;
}

}  // namespace haichi::record
