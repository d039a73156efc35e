// The events of a stream, each once, by number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "record/event_key.h"
#include "record/lazy_array.h"
#include "record/memory.h"
#include "record/sequence_layout.h"

namespace haichi::record {

/// `its_slots`: those that it completes.
EventKey key_of(const StoredEvent& stored, const int* its_slots);

/// Finds an event's number in constant time, in bounded memory. Not thread-safe.
class EventTable {
 public:
  /// Events lie in `memory`, which outlives it, as the layout says from `at` on.
  EventTable(Memory& memory, size_t at, const SequenceLayout& layout);

  /// The number of the event, a new one if it was not seen before; -1 if there is no room for it.
  int number(const EventKey& key);
  /// The event; its `completes` stay valid as long as the table.
  EventKey key(int number) const;
  size_t bytes() const;

 private:
  int add(const EventKey& key, uint64_t hash);
  bool same(const StoredEvent& stored, const EventKey& key) const;
  const StoredEvent& stored(uint32_t number) const {
    return memory_.at<StoredEvent>(at_ + layout_.events_at)[number];
  }
  const int* completes() const { return memory_.at<int>(at_ + layout_.completes_at); }

  Memory& memory_;
  const size_t at_;
  const SequenceLayout layout_;
  SequenceHead* head_ = nullptr;  // null: there is no memory
  LazyArray<uint32_t> slots_;     // number + 1 of an event, 0: free; a power of two of them
};

}  // namespace haichi::record
