#include "record/event_table.h"

#include <algorithm>
#include <bit>

#include "record/mix.h"

namespace haichi::record {
namespace {

uint64_t pair(int a, int b) { return uint64_t(uint32_t(a)) << 32 | uint32_t(b); }

uint64_t hash_of(const EventKey& key) {
  uint64_t hash = mix(pair(key.call, key.comm));
  hash = mix(hash ^ pair(key.peer, key.tag));
  hash = mix(hash ^ pair(key.root, key.request));
  hash = mix(hash ^ pair(key.from, key.from_tag));
  hash = mix(hash ^ pair(key.file, key.window));
  hash = mix(hash ^ uint64_t(key.bytes));
  hash = mix(hash ^ (uint64_t(key.from_bytes) + 0x9e3779b97f4a7c15u * uint64_t(key.received)));
  for (const int slot : key.completes) hash = mix(hash ^ uint64_t(slot));
  return hash;
}

}  // namespace

EventKey key_of(const StoredEvent& stored, const int* its_slots) {
  return {stored.numbers, {its_slots, stored.completes}};
}

EventTable::EventTable(Memory& memory, size_t at, const SequenceLayout& layout)
    : memory_(memory),
      at_(at),
      layout_(layout),
      slots_(std::bit_floor(std::max<size_t>(layout.events * 2, 2))) {
  if (slots_.size() > 0 && memory_.make_usable(at_, sizeof(SequenceHead)))
    head_ = memory_.at<SequenceHead>(at_);
}

int EventTable::number(const EventKey& key) {
  if (head_ == nullptr) return -1;
  const uint64_t hash = hash_of(key);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      const int number = add(key, hash);
      if (number >= 0) slots_[slot] = uint32_t(number) + 1;
      return number;
    }
    const StoredEvent& found = stored(slots_[slot] - 1);
    if (found.hash == hash && same(found, key)) return int(slots_[slot]) - 1;
  }
}

bool EventTable::same(const StoredEvent& stored, const EventKey& key) const {
  const int* const slots = completes() + stored.completes_at;
  return stored.numbers == key &&
         std::equal(slots, slots + stored.completes, key.completes.begin(), key.completes.end());
}

int EventTable::add(const EventKey& key, uint64_t hash) {
  // The slots are never full: there are more of them than events that fit.
  const size_t completes_size = key.completes.size();
  const bool fits = head_->events < layout_.events && head_->events + 1 < slots_.size() &&
                    layout_.completes - head_->completes >= completes_size;
  const size_t event_at = at_ + layout_.events_at + head_->events * sizeof(StoredEvent);
  const size_t completes_at = at_ + layout_.completes_at + head_->completes * sizeof(int);
  if (!fits || !memory_.make_usable(event_at, sizeof(StoredEvent)) ||
      !memory_.make_usable(completes_at, completes_size * sizeof(int)))
    return -1;
  std::copy(key.completes.begin(), key.completes.end(), memory_.at<int>(completes_at));
  *memory_.at<StoredEvent>(event_at) = {key, head_->completes, uint32_t(completes_size), hash};
  in_this_order();
  head_->completes += uint32_t(completes_size);
  return int(head_->events++);
}

EventKey EventTable::key(int number) const {
  const StoredEvent& event = stored(uint32_t(number));
  return key_of(event, completes() + event.completes_at);
}

size_t EventTable::bytes() const {
  if (head_ == nullptr) return 0;
  return slots_.size() * sizeof(uint32_t) + head_->completes * sizeof(int) +
         head_->events * sizeof(StoredEvent);
}

}  // namespace haichi::record
