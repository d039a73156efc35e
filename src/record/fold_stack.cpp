#include "record/fold_stack.h"

#include <algorithm>
#include <bit>

#include "record/mix.h"

namespace haichi::record {
namespace {

constexpr uint64_t kBase = 0xd6e8feb86659fd93u;  // odd, so that powers stay apart
// How many entries of a hash chain are looked at, and how many that are alike are compared.
constexpr int kMostLooks = 16, kMostCompared = 4;

}  // namespace

FoldStack::FoldStack(size_t most_items)
    : items_(most_items),
      entries_(items_.size()),
      powers_(items_.size() + 1),
      endings_(items_.size()),
      heads_{LazyArray<uint32_t>(std::bit_ceil(items_.size() + 1)),
             LazyArray<uint32_t>(std::bit_ceil(items_.size() + 1)),
             LazyArray<uint32_t>(std::bit_ceil(items_.size() + 1)),
             LazyArray<uint32_t>(std::bit_ceil(items_.size() + 1))},
      mask_(uint32_t(std::bit_ceil(items_.size() + 1) - 1)) {
  // Its own memory, an entry, a power, an ending, and on each level one or two heads.
  static_assert(kBytesOfItem == sizeof(Item) + sizeof(Entry) + sizeof(uint64_t) + sizeof(uint32_t) +
                                    2 * kGrams.size() * sizeof(uint32_t));
  if (powers_.size() > 0) powers_[0] = 1;
}

bool FoldStack::put(uint32_t event, const Place& place) {
  const uint32_t number = new_item();
  if (number == kNone) return false;
  Item& item = items_[number];
  item.event = event;
  item.hash = mix(uint64_t{event} + 1);
  item.place = place;
  push(number);
  return true;
}

bool FoldStack::put_loop(uint32_t length, uint64_t times) {
  const bool has_room = free_ != kNone || items_used_ < items_.size();
  if (length == 0 || length > size_ || !has_room) return false;
  const uint64_t hash = hash_between(size_ - length, size_);
  const uint32_t body = body_of_last(length);
  pop(length);
  push_loop(body, length, times, hash);
  return true;
}

bool FoldStack::add(uint32_t event, int64_t compute_ns, int64_t took_ns) {
  if (!put(event, {compute_ns, took_ns, compute_ns})) return false;
  // A loop needs an item to be free, which the last but one that fits would take.
  while (grow_loop() || make_loop()) continue;
  return true;
}

// --- Hashes ------------------------------------------------------------------------------------

// Of a run of items x1 .. xn: x1 base^(n-1) + ... + xn, modulo 2^64.
uint64_t FoldStack::hash_up_to(uint32_t i) const {
  if (i < size_) return entries_[i].before;
  return i == 0 ? 0 : entries_[i - 1].before * kBase + items_[entries_[i - 1].item].hash;
}

uint64_t FoldStack::hash_between(uint32_t begin, uint32_t end) const {
  return hash_up_to(end) - entries_[begin].before * powers_[end - begin];
}

uint32_t FoldStack::gram(uint32_t top, uint32_t length) const {
  return uint32_t(mix(hash_between(top + 1 - length, top + 1)) >> 32);
}

void FoldStack::rehash(Item& loop) {
  loop.hash = mix(loop.loop.body_hash ^ mix(loop.loop.times ^ uint64_t{loop.loop.length} << 40));
}

// --- The stack ---------------------------------------------------------------------------------

void FoldStack::push(uint32_t item) {
  if (size_ > 0) mark(size_ - 1);
  Entry& entry = entries_[size_];
  entry.before = hash_up_to(size_);
  entry.item = item;
  if (powers_[size_ + 1] == 0) powers_[size_ + 1] = powers_[size_] * kBase;
  const Item& it = items_[item];
  if (it.is_loop() && size_ + it.loop.length < endings_.size()) {
    uint32_t& ending = endings_[size_ + it.loop.length];
    entry.older_loop = ending;
    ending = size_ + 1;
  }
  ++size_;
}

// The items themselves stay.
void FoldStack::pop(uint32_t count) {
  for (; count > 0; --count) {
    const uint32_t top = --size_;
    const Item& it = items_[entries_[top].item];
    if (it.is_loop() && top + it.loop.length < endings_.size())
      endings_[top + it.loop.length] = entries_[top].older_loop;
    if (top > 0) unmark(top - 1);
  }
}

// An entry is marked while something lies on it, since a loop on top still changes. Then the newest
// of a chain is always the first to go.
void FoldStack::mark(uint32_t i) {
  Entry& entry = entries_[i];
  for (size_t level = 0; level < kGrams.size(); ++level) {
    if (!is_marked(i, level)) continue;
    Mark& mark = entry.marks[level];
    mark.gram = gram(i, kGrams[level]);
    uint32_t& head = heads_[level][mark.gram & mask_];
    mark.older = head;
    head = i + 1;
  }
}

void FoldStack::unmark(uint32_t i) {
  const Entry& entry = entries_[i];
  for (size_t level = 0; level < kGrams.size(); ++level)
    if (is_marked(i, level))
      heads_[level][entry.marks[level].gram & mask_] = entry.marks[level].older;
}

// --- Folding -----------------------------------------------------------------------------------

// Whether what lies above a loop is its body; the innermost of such loops then runs once more.
bool FoldStack::grow_loop() {
  for (uint32_t ending = endings_[size_ - 1]; ending != 0;
       ending = entries_[ending - 1].older_loop) {
    const uint32_t at = ending - 1;
    const uint32_t number = entries_[at].item;
    const Loop& body = items_[number].loop;
    if (hash_between(at + 1, size_) != body.body_hash) continue;
    uint32_t mine = body.first;
    bool alike = true;
    for (uint32_t i = at + 1; i < size_ && alike; ++i, mine = items_[mine].next)
      alike = equal(mine, entries_[i].item);
    if (!alike) continue;
    mine = body.first;
    for (uint32_t i = at + 1; i < size_; ++i, mine = items_[mine].next)
      merge(mine, entries_[i].item);
    pop(body.length);
    ++items_[number].loop.times;
    rehash(items_[number]);
    return true;
  }
  return false;
}

// Whether the last items are twice the same, and then a loop of them.
bool FoldStack::make_loop() {
  const uint32_t top = size_ - 1;
  for (size_t level = 0; level < kGrams.size(); ++level) {
    if (!is_looked_for(top, level)) continue;
    const uint32_t last = gram(top, kGrams[level]);
    uint32_t found = heads_[level][last & mask_];
    for (int looks = 0, compared = 0; found != 0 && looks < kMostLooks; ++looks) {
      const uint32_t at = found - 1;
      found = entries_[at].marks[level].older;
      if (2 * (top - at) > size_) break;
      if (entries_[at].marks[level].gram != last) continue;
      if (fold_last(top - at)) return true;
      if (++compared == kMostCompared) break;
    }
  }
  return false;
}

bool FoldStack::fold_last(uint32_t length) {
  const uint32_t second = size_ - length, first = second - length;
  const uint64_t hash = hash_between(second, size_);
  if (hash_between(first, second) != hash) return false;
  for (uint32_t i = 0; i < length; ++i)
    if (!equal(entries_[first + i].item, entries_[second + i].item)) return false;
  for (uint32_t i = 0; i < length; ++i) merge(entries_[first + i].item, entries_[second + i].item);
  pop(length);
  const uint32_t body = body_of_last(length);
  pop(length);
  push_loop(body, length, 2, hash);
  return true;
}

// Links the last items, so that they can be a body; the first of them.
uint32_t FoldStack::body_of_last(uint32_t length) {
  const uint32_t first = size_ - length;
  for (uint32_t i = first; i + 1 < size_; ++i) items_[entries_[i].item].next = entries_[i + 1].item;
  items_[entries_[size_ - 1].item].next = kNone;
  return entries_[first].item;
}

// There is a free item for it, as whoever calls this knows.
void FoldStack::push_loop(uint32_t first, uint32_t length, uint64_t times, uint64_t body_hash) {
  const uint32_t number = new_item();
  Item& loop = items_[number];
  loop.event = kNone;
  loop.loop = {times, body_hash, first, length};
  rehash(loop);
  push(number);
}

bool FoldStack::equal(uint32_t a, uint32_t b) const {
  const Item &x = items_[a], &y = items_[b];
  if (x.hash != y.hash || x.event != y.event) return false;
  if (!x.is_loop()) return true;
  if (x.loop.times != y.loop.times || x.loop.length != y.loop.length) return false;
  uint32_t mine = x.loop.first, other = y.loop.first;
  for (; mine != kNone; mine = items_[mine].next, other = items_[other].next)
    if (!equal(mine, other)) return false;
  return true;
}

// Adds what `from` has been through to the equal `into`, and frees it.
void FoldStack::merge(uint32_t into, uint32_t from) {
  Item &x = items_[into], &y = items_[from];
  if (x.is_loop()) {
    uint32_t mine = x.loop.first, other = y.loop.first;
    while (mine != kNone) {
      const uint32_t next = items_[other].next;
      merge(mine, other);
      mine = items_[mine].next;
      other = next;
    }
  } else {
    x.place.compute_ns += y.place.compute_ns;
    x.place.took_ns += y.place.took_ns;
    x.place.most_ns = std::max(x.place.most_ns, y.place.most_ns);
  }
  free_item(from);
}

// --- Memory ------------------------------------------------------------------------------------

uint32_t FoldStack::new_item() {
  if (free_ != kNone) {
    const uint32_t number = free_;
    free_ = items_[number].next;
    return number;
  }
  return items_used_ < items_.size() ? items_used_++ : kNone;
}

void FoldStack::free_item(uint32_t number) {
  items_[number].next = free_;
  free_ = number;
}

}  // namespace haichi::record
