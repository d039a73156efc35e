#include "sim/matching.h"

#include <utility>

namespace haichi::sim {

std::optional<Matching::Item> Matching::offer(int target, int source, Side side, Item item) {
  Table& table = tables_[size_t(target)];
  if (table.slots.empty()) grow(table);
  size_t at = place_of(table, source);
  if (!table.slots[at].empty() && table.slots[at].side() != side) {
    const Item found = take_from(table.slots[at]);
    if (table.slots[at].empty()) remove(table, at);
    --waiting_;
    return found;
  }
  if (table.slots[at].empty()) at = add(table, source);
  put_into(table.slots[at], side, item);
  ++waiting_;
  return std::nullopt;
}

std::optional<Matching::Left> Matching::first_waiting() const {
  for (int target = 0; target < ranks_; ++target) {
    const Table& table = tables_[size_t(target)];
    for (size_t at = 0; at < table.slots.size(); ++at)
      if (!table.slots[at].empty())
        return Left{target, is_full_size(table) ? int(at) : table.sources[at],
                    table.slots[at].side()};
  }
  return std::nullopt;
}

// --- the slot of a pair --------------------------------------------------------------------------

Matching::Item Matching::take_from(Slot& slot) {
  if (slot.is_one()) return kinds_[std::exchange(slot, Slot()).number()];
  const uint32_t at = slot.number();
  const Node first = node(at);
  if (first.next != 0) node(first.next).last = first.last;
  slot = first.next == 0 ? Slot() : Slot::list(first.next, slot.side());
  free_node(at);
  return {first.bytes, first.value};
}

void Matching::put_into(Slot& slot, Side side, const Item& item) {
  if (slot.empty()) {
    // A message by rendezvous has a value that no other has.
    const bool is_like_others = side == Side::receive || item.value < 0;
    const auto kind = is_like_others ? kind_of(item) : std::nullopt;
    slot = kind ? Slot::one(*kind, side) : Slot::list(new_node(item), side);
    return;
  }
  if (slot.is_one()) slot = Slot::list(new_node(kinds_[slot.number()]), side);
  const uint32_t added = new_node(item);
  Node& first = node(slot.number());
  node(first.last).next = added;
  first.last = added;
}

// Items of which there are few kinds are told by the number of theirs; nothing if there are many.
std::optional<uint32_t> Matching::kind_of(const Item& item) {
  if (item == last_item_) return last_kind_;
  const auto known = kind_numbers_.find(item);
  if (known == kind_numbers_.end() && kinds_.size() == kMostKinds) return std::nullopt;
  last_item_ = item;
  if (known != kind_numbers_.end()) return last_kind_ = known->second;
  last_kind_ = uint32_t(kinds_.size());
  kind_numbers_.emplace(item, last_kind_);
  kinds_.push_back(item);
  return last_kind_;
}

uint32_t Matching::new_node(const Item& item) {
  uint32_t at = free_;
  if (at != 0) {
    free_ = node(at).next;
  } else {
    if (nodes_ / kChunk >= chunks_.size()) chunks_.push_back(std::make_unique<Node[]>(kChunk));
    at = nodes_++;
  }
  node(at) = {item.bytes, item.value, 0, at};
  return at;
}

void Matching::free_node(uint32_t at) {
  node(at).next = free_;
  free_ = at;
}

// --- the table of a rank -------------------------------------------------------------------------

size_t Matching::place_of(const Table& table, int source) const {
  if (is_full_size(table)) return size_t(source);
  const size_t mask = table.slots.size() - 1;
  size_t at = size_t(source) & mask;
  while (!table.slots[at].empty() && table.sources[at] != source) at = (at + 1) & mask;
  return at;
}

// Makes a place for a source that has none: what is returned is still empty.
size_t Matching::add(Table& table, int source) {
  if (!is_full_size(table) && 2 * (table.used + 1) > table.slots.size()) grow(table);
  ++table.used;
  const size_t at = place_of(table, source);
  if (!is_full_size(table)) table.sources[at] = source;
  return at;
}

void Matching::grow(Table& table) {
  Table larger;
  larger.slots.resize(table.slots.empty() ? 8 : 2 * table.slots.size());
  if (!is_full_size(larger)) larger.sources.resize(larger.slots.size());
  larger.used = table.used;
  for (size_t at = 0; at < table.slots.size(); ++at) {
    if (table.slots[at].empty()) continue;
    const size_t place = place_of(larger, table.sources[at]);
    larger.slots[place] = table.slots[at];
    if (!is_full_size(larger)) larger.sources[place] = table.sources[at];
  }
  table = std::move(larger);
}

// Those behind it that it kept from their own places move up, so that they are found.
void Matching::remove(Table& table, size_t hole) {
  --table.used;
  table.slots[hole] = Slot();
  if (is_full_size(table)) return;
  const size_t mask = table.slots.size() - 1;
  for (size_t at = (hole + 1) & mask; !table.slots[at].empty(); at = (at + 1) & mask) {
    const size_t from_home = (at - size_t(table.sources[at])) & mask;
    if (from_home < ((at - hole) & mask)) continue;
    table.slots[hole] = std::exchange(table.slots[at], Slot());
    table.sources[hole] = table.sources[at];
    hole = at;
  }
}

}  // namespace haichi::sim
