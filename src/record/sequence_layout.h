// How a folded sequence lies in memory, and in a file if its process is killed.
//
// Folding changes many places of memory, so a stack of items cannot be read when it ends halfway.
// Therefore the stack is copied now and then, to one of two places by turns, and what is added
// after that is logged: the copy and the log together are the sequence. One store makes a copy the
// valid one, and the log empty. Events lie there once and for all. It is a part's, and like it read
// by the haichi that wrote it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "record/event_key.h"

namespace haichi::record {

/// What is stored before is seen before what is stored behind it, by who looks at the memory of a
/// process that was killed in between: it ends between two instructions, so only the compiler must
/// keep their order.
inline void in_this_order() { std::atomic_signal_fence(std::memory_order_seq_cst); }

/// An event; of the slots that it completes, which of all are its own.
struct StoredEvent {
  EventNumbers numbers;
  uint32_t completes_at, completes;
  uint64_t hash;
};

/// Of a stack, bottom first: an event's occurrences, or a loop, whose body are the `length` items
/// before it. Sums of nanoseconds are rounded, to a ten-millionth.
struct CopiedItem {
  uint32_t event;  ///< FoldStack::kNone: a loop
  union {
    struct {
      float compute_ns, took_ns, most_ns;
    } place;
    struct {
      uint32_t length, times_low, times_high;
    } loop;
  };
};
static_assert(sizeof(CopiedItem) == 16);

/// Valid if it is of the head's generation and all before it are; that is stored last.
struct LoggedEvent {
  uint32_t event;
  float compute_ns, took_ns;
  uint32_t generation;
};

/// The copy of generation g lies in place g % 2.
struct SequenceHead {
  uint64_t most_bytes;  ///< that the layout is of; 0: nothing is kept
  uint32_t events, completes;
  uint32_t generation;
  uint32_t items[2];
  uint8_t cut;  ///< memory or the disk was full: what came after is not here
};

/// How much there may be of all in `most_bytes`, with what folding needs beside it, and where it
/// lies behind the head.
struct SequenceLayout {
  explicit SequenceLayout(size_t most_bytes);

  size_t most_bytes;
  uint32_t logged, events, completes, items;
  size_t log_at, events_at, completes_at, copy_at[2];
  size_t bytes;  ///< from the head to the end
};

}  // namespace haichi::record
