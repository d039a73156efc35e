#include "record/event_table.h"

#include <algorithm>
#include <bit>

#include "record/mix.h"

namespace haichi::record {
namespace {

// What an event may take, its place in the table and some slots that it completes included.
constexpr size_t kSlotsOfCompletes = 4;
constexpr size_t kBytesOfEvent =
    sizeof(EventKey) + sizeof(uint64_t) + 2 * sizeof(uint32_t) + kSlotsOfCompletes * sizeof(int);

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

bool same(const EventKey& a, const EventKey& b) {
  return a.call == b.call && a.comm == b.comm && a.peer == b.peer && a.tag == b.tag &&
         a.root == b.root && a.request == b.request && a.from == b.from &&
         a.from_tag == b.from_tag && a.file == b.file && a.window == b.window &&
         a.bytes == b.bytes && a.from_bytes == b.from_bytes && a.received == b.received &&
         std::equal(a.completes.begin(), a.completes.end(), b.completes.begin(), b.completes.end());
}

}  // namespace

EventTable::EventTable(size_t most_bytes)
    : stored_(most_bytes / kBytesOfEvent),
      completes_(stored_.size() * kSlotsOfCompletes),
      slots_(std::bit_floor(std::max<size_t>(stored_.size() * 2, 2))) {}

int EventTable::number(const EventKey& key) {
  if (slots_.size() == 0) return -1;
  const uint64_t hash = hash_of(key);
  const size_t mask = slots_.size() - 1;
  for (size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) {
      const int number = add(key, hash);
      if (number >= 0) slots_[slot] = uint32_t(number) + 1;
      return number;
    }
    const Stored& stored = stored_[slots_[slot] - 1];
    if (stored.hash == hash && same(stored.key, key)) return int(slots_[slot]) - 1;
  }
}

int EventTable::add(const EventKey& key, uint64_t hash) {
  // The slots are never full: there are more of them than events that fit.
  const bool fits = size_t(size_) < stored_.size() && size_t(size_) + 1 < slots_.size();
  if (!fits || completes_.size() - completes_used_ < key.completes.size()) return -1;
  Stored& stored = stored_[size_t(size_)];
  stored = {key, hash};
  if (!key.completes.empty()) {
    int* const begin = &completes_[completes_used_];
    std::copy(key.completes.begin(), key.completes.end(), begin);
    stored.key.completes = {begin, key.completes.size()};
    completes_used_ += key.completes.size();
  }
  return size_++;
}

EventKey EventTable::key(int number) const { return stored_[size_t(number)].key; }

size_t EventTable::bytes() const {
  return slots_.size() * sizeof(uint32_t) + completes_used_ * sizeof(int) +
         size_t(size_) * sizeof(Stored);
}

}  // namespace haichi::record
