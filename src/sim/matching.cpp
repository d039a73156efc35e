#include "sim/matching.h"

#include <utility>

namespace haichi::sim {

std::optional<Matching::Item> Matching::offer(int target, int source, Side side, Item item) {
  Table& table = tables_[size_t(target)];
  if (table.pairs.empty()) table.pairs.resize(8);
  Pair* waiting = &slot(table.pairs, source);
  const bool is_new = waiting->source != source;
  if (!is_new && Side(waiting->side) != side) {
    const uint32_t at = waiting->head;
    Node& first = node(at);
    const Item found{first.bytes, first.value};
    waiting->head = first.next;
    if (first.next == 0) remove(table, *waiting);
    first.next = free_;
    free_ = at;
    --waiting_;
    return found;
  }
  if (is_new) waiting = &add(table, source);
  const uint32_t at = new_node();
  node(at) = {item.bytes, item.value, 0};
  if (waiting->head == 0)
    waiting->head = at;
  else
    node(waiting->tail).next = at;
  waiting->tail = at;
  waiting->side = uint32_t(side);
  ++waiting_;
  return std::nullopt;
}

std::optional<Matching::Left> Matching::first_waiting() const {
  for (int target = 0; target < ranks_; ++target)
    for (const Pair& each : tables_[size_t(target)].pairs)
      if (each.source >= 0) return Left{target, each.source, Side(each.side)};
  return std::nullopt;
}

Matching::Pair& Matching::slot(std::vector<Pair>& pairs, int source) {
  size_t at = size_t(source) & (pairs.size() - 1);
  while (pairs[at].source >= 0 && pairs[at].source != source) at = (at + 1) & (pairs.size() - 1);
  return pairs[at];
}

Matching::Pair& Matching::add(Table& table, int source) {
  if (!never_collides(table) && 2 * (table.used + 1) > table.pairs.size()) {
    std::vector<Pair> larger(table.pairs.size() * 2);
    for (const Pair& each : table.pairs)
      if (each.source >= 0) slot(larger, each.source) = each;
    table.pairs = std::move(larger);
  }
  Pair& made = slot(table.pairs, source);
  made.source = source;
  ++table.used;
  return made;
}

// Those behind it that it kept from their own places move up, so that they are found.
void Matching::remove(Table& table, Pair& pair) {
  --table.used;
  std::vector<Pair>& pairs = table.pairs;
  size_t hole = size_t(&pair - pairs.data());
  const size_t mask = pairs.size() - 1;
  if (!never_collides(table))
    for (size_t at = (hole + 1) & mask; pairs[at].source >= 0; at = (at + 1) & mask) {
      const size_t from_home = (at - size_t(pairs[at].source)) & mask;
      if (from_home < ((at - hole) & mask)) continue;
      pairs[hole] = pairs[at];
      hole = at;
    }
  pairs[hole] = {};
}

uint32_t Matching::new_node() {
  if (free_ != 0) {
    const uint32_t at = free_;
    free_ = node(at).next;
    return at;
  }
  if (nodes_ / kChunk >= chunks_.size()) chunks_.push_back(std::make_unique<Node[]>(kChunk));
  return nodes_++;
}

}  // namespace haichi::sim
