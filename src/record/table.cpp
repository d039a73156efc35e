#include "record/table.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace haichi::record {
namespace {

uint64_t mixed(uint64_t a, uint64_t b) {
  a = (a ^ b) * 0x9e3779b97f4a7c15u;
  return a ^ (a >> 32);
}

uint64_t hash_of(const Key& key) {
  uint64_t words[sizeof(Key) / 8];
  memcpy(words, &key, sizeof key);
  uint64_t hash = 0x243f6a8885a308d3u;
  for (const uint64_t word : words) hash = mixed(hash, word);
  return hash;
}

}  // namespace

Table::Table(Memory& memory, Head& head) : memory_(memory), head_(head), slots_(kSlots) {
  if (slots_.size() == 0) throw std::bad_alloc();
}

Entry* Table::entry_of(const Key& key, bool& is_new) {
  Entry* const entries = memory_.at<Entry>(kEntriesAt);
  uint32_t slot = uint32_t(hash_of(key)) % kSlots;
  for (; slots_[slot] != 0; slot = (slot + 1) % kSlots)
    if (entries[slots_[slot] - 1].key == key) return &entries[slots_[slot] - 1];
  if (head_.entries >= kMostEntries ||
      !memory_.make_usable(kEntriesAt + head_.entries * sizeof(Entry), sizeof(Entry)))
    return nullptr;
  is_new = true;
  Entry* const entry = &entries[head_.entries];
  entry->key = key;
  slots_[slot] = ++head_.entries;
  return entry;
}

bool Table::add(const Key& key, Took took, bool& is_new) {
  Entry* const entry = entry_of(key, is_new);
  if (entry == nullptr) return false;
  if (entry->count++ == 0) {
    entry->first_ns = entry->least_ns = entry->most_ns = took.ns;
  } else {
    entry->least_ns = std::min(entry->least_ns, took.ns);
    entry->most_ns = std::max(entry->most_ns, took.ns);
  }
  entry->total_ns += took.ns;
  entry->wait_ns += took.wait_ns;
  ++entry->histogram[bucket_of(took.ns)];
  return true;
}

}  // namespace haichi::record
