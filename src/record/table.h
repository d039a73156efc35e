// The calls of a rank, counted by key.
#pragma once

#include <cstdint>

#include "record/lazy_array.h"
#include "record/memory.h"
#include "record/part.h"

namespace haichi::record {

/// How long a call took, and how much of that it waited for others.
struct Took {
  int64_t ns, wait_ns = 0;
};

/// Open addressing over entries that lie in a part. Not thread-safe.
class Table {
 public:
  /// Both outlive it. Throws std::bad_alloc if there is no memory for the slots.
  Table(Memory& memory, Head& head);

  /// False if there is no room for another key: the call is then counted by `head` alone.
  /// `is_new`: there was none of this key.
  bool add(const Key& key, Took took, bool& is_new);

 private:
  static constexpr uint32_t kSlots = 65'536;
  static_assert(kMostEntries < kSlots / 2);

  Entry* entry_of(const Key& key, bool& is_new);

  Memory& memory_;
  Head& head_;
  LazyArray<uint32_t> slots_;  // number of an entry + 1; 0: free
};

}  // namespace haichi::record
