// A stream of numbers folded into loops as it comes.
//
// What was added lies on a stack of items, each an event or a loop. When an item comes on top,
// either the items above a loop are its body once more: they go into it, and it runs once more; or
// the last items are twice the same: they become a loop that runs twice. Either may make the next
// possible. So loops are found innermost first and from left to right, as in the RSDs of ScalaTrace
// (Noeth et al. 2009); but where that compares each new event with a window of the past, here runs
// of items are compared by the differences of prefix hashes, at the few places that a hash table of
// the last 1, 8, 64 and 512 items names. What hashes say is checked before it is believed.
#pragma once

#include <array>
#include <cstdint>

#include "record/lazy_array.h"

namespace haichi::record {

class FoldStack {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// An occurrence of an event at a place of the program, or all there were.
  struct Place {
    int64_t compute_ns, took_ns, most_ns;  // most: the longest computing
  };
  struct Loop {
    uint64_t times, body_hash;
    uint32_t first, length;  // of the body: its first item, linked by `next`
  };
  struct Item {
    uint64_t hash;
    uint32_t next;   // in a body
    uint32_t event;  // kNone: a loop
    union {
      Place place;
      Loop loop;
    };
    bool is_loop() const { return event == kNone; }
  };

  static constexpr size_t kBytesOfItem = 132;  ///< of memory, with what finds it

  explicit FoldStack(size_t most_items);

  /// Adds an occurrence; false, and nothing was done, if memory is full.
  bool add(uint32_t event, int64_t compute_ns, int64_t took_ns);
  /// Builds a stack again: puts all occurrences of an event at a place on top, or makes the last
  /// `length` items a loop. False, and nothing was done, if memory is full, or if there are not so
  /// many.
  bool put(uint32_t event, const Place& place);
  bool put_loop(uint32_t length, uint64_t times);

  uint32_t size() const { return size_; }
  /// The i-th item from the bottom, and any by its number, as Loop::first and Item::next have it.
  uint32_t at(uint32_t i) const { return entries_[i].item; }
  const Item& item(uint32_t number) const { return items_[number]; }
  size_t bytes() const { return items_used_ * kBytesOfItem; }

 private:
  static constexpr std::array<uint32_t, 4> kGrams{1, 8, 64, 512};
  // Powers of two. Of the longer ones every s-th item is marked, and they are looked for s times in
  // a row of s * s items, one of which is as far from a mark as a body is long. So a loop is found
  // a little later.
  static constexpr std::array<uint32_t, kGrams.size()> kStrides{1, 4, 8, 8};

  // An item among those whose last kGrams[level] items may be alike: the older next one.
  struct Mark {
    uint32_t gram, older;
  };
  struct Entry {
    uint64_t before;  // hash of all items below
    uint32_t item;
    uint32_t older_loop;  // of a loop: the next whose body would end where its own would
    std::array<Mark, kGrams.size()> marks;
  };

  uint64_t hash_up_to(uint32_t i) const;
  uint64_t hash_between(uint32_t begin, uint32_t end) const;
  uint32_t gram(uint32_t top, uint32_t length) const;
  void rehash(Item& loop);

  static bool is_marked(uint32_t i, size_t level) {
    return kGrams[level] <= i + 1 && (i & (kStrides[level] - 1)) == 0;
  }
  static bool is_looked_for(uint32_t i, size_t level) {
    return 2 * kGrams[level] <= i + 1 && (i / kStrides[level] & (kStrides[level] - 1)) == 0;
  }

  void push(uint32_t item);
  void pop(uint32_t count);
  void mark(uint32_t i);
  void unmark(uint32_t i);

  bool grow_loop();
  bool make_loop();
  bool fold_last(uint32_t length);
  uint32_t body_of_last(uint32_t length);
  void push_loop(uint32_t first, uint32_t length, uint64_t times, uint64_t body_hash);
  bool equal(uint32_t a, uint32_t b) const;
  void merge(uint32_t into, uint32_t from);

  uint32_t new_item();
  void free_item(uint32_t number);

  LazyArray<Item> items_;
  LazyArray<Entry> entries_;
  LazyArray<uint64_t> powers_;  // of kBase
  LazyArray<uint32_t>
      endings_;  // of a position: 1 + the loop that ends there when it runs once more
  std::array<LazyArray<uint32_t>, kGrams.size()> heads_;  // 1 + the newest entry with such a gram
  uint32_t size_ = 0;
  uint32_t items_used_ = 0, free_ = kNone;
  uint32_t mask_;
};

}  // namespace haichi::record
