// The events of a stream, each once, by number.
#pragma once

#include <cstdint>
#include <span>

#include "record/event_key.h"
#include "record/lazy_array.h"

namespace haichi::record {

/// Finds an event's number in constant time, in bounded memory. Not thread-safe.
class EventTable {
 public:
  explicit EventTable(size_t most_bytes);

  /// The number of the event, a new one if it was not seen before; -1 if there is no room for it.
  int number(const EventKey& key);
  /// The event; its `completes` stay valid as long as the table.
  EventKey key(int number) const;
  int size() const { return size_; }
  size_t bytes() const;

 private:
  struct Stored {
    EventKey key;  // `completes` points into completes_
    uint64_t hash;
  };
  int add(const EventKey& key, uint64_t hash);

  LazyArray<Stored> stored_;
  LazyArray<int> completes_;
  LazyArray<uint32_t> slots_;  // number + 1 of an event, 0: free; a power of two of them
  int size_ = 0;
  size_t completes_used_ = 0;
};

}  // namespace haichi::record
