// What a recorder hands its calls to: folds them into loops as they come, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "record/event_key.h"
#include "record/memory.h"
#include "record/sequence.h"
#include "record/sequence_layout.h"

namespace haichi::record {

/// Folds a stream of events into a program of loops, online.
///
/// Whatever comes, the program unfolds to exactly the stream that went in. Loops are found
/// innermost first, as repetitions at the end of what is there, so a stream that is periodic from
/// somewhere on takes memory for what came before it and for a few of its periods, not for their
/// number. For each place in the program the sums of computing and call times are kept, and the
/// longest computing.
///
/// Memory never exceeds `most_bytes`, with what is kept of it in a file: the event that would need
/// more, and all behind it, are left out, and cut() is true from then on. Not thread-safe: one for
/// each rank, under the recorder's lock.
class Folder {
 public:
  static constexpr size_t kMostBytes = size_t{8} << 20;

  explicit Folder(size_t most_bytes = kMostBytes);
  /// What it does is kept in `memory` from `at` on, as the layout of kMostBytes says, if that is in
  /// a file: kept_sequence() reads it. The memory outlives this.
  Folder(Memory& memory, size_t at);
  ~Folder();
  Folder(Folder&&) noexcept;
  Folder& operator=(Folder&&) noexcept;

  /// The call's number as an event, for events that come again and again: stays valid. -1 if memory
  /// is full.
  int event(const EventKey& key);
  /// Adds an occurrence of event(), with the nanoseconds of computing before the call, and of the
  /// call.
  void add(int event, int64_t compute_ns, int64_t took_ns);
  void add(const EventKey& key, int64_t compute_ns, int64_t took_ns) {
    add(event(key), compute_ns, took_ns);
  }

  /// Puts the next item of a copy where it was; an event of it is there already. False if it cannot
  /// be there.
  bool restore(const CopiedItem& item);

  bool cut() const;
  size_t bytes() const;     ///< of memory that it takes
  uint64_t events() const;  ///< that were added, those left out too

  /// The program so far. `names[call]` are the functions' names ("MPI_Send").
  Sequence sequence(std::span<const std::string> names) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace haichi::record
