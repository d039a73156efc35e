// What one rank has recorded, as it lies in memory and, if the process is killed, in a file.
//
// A part is read by the haichi that wrote it: its form has a version and no other promise. What is
// kept is a record (docs/guide/formats.md), which writes.h makes of parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "record/histogram.h"
#include "record/key.h"

namespace haichi::record {

/// Times are nanoseconds; of the monotonic clock if they are moments.
struct Head {
  static constexpr char kMagic[8] = {'h', 'a', 'i', 'c', 'h', 'i', 'R', '2'};

  char magic[8];
  int32_t rank, ranks;
  int64_t started_ns, last_ns;  ///< begin of the record; end of the last call
  int64_t wall_ns;              ///< from begin to MPI_Finalize; 0 before that
  int64_t cpu_started_ns;       ///< processor time of the process at the begin
  int64_t cpu_ns;               ///< since then; 0 before MPI_Finalize
  int64_t mpi_ns, compute_ns;
  int64_t calls, calls_without_key;
  int64_t requests_lost;               ///< that there was no room to follow
  uint32_t text_bytes, entries, sent;  ///< how much there is of each
  uint8_t finalized, full, traffic_full;
};
static_assert(sizeof(Head) <= 256);

/// The calls of one key.
struct Entry {
  Key key;
  int64_t count;
  int64_t first_ns, total_ns, least_ns, most_ns, wait_ns;
  uint32_t histogram[kBuckets];
  uint32_t unused[3];
};
static_assert(sizeof(Entry) == 736);

/// What was sent to one rank in one way; free if both numbers of messages are 0.
struct Sent {
  int32_t peer;
  uint32_t one_sided;  ///< 1, or 0: messages
  int64_t messages, bytes;
};

// Where they lie in a part.
inline constexpr size_t kTextAt = 4096, kMostText = (1 << 20) - kTextAt;
inline constexpr size_t kEntriesAt = kTextAt + kMostText;
inline constexpr uint32_t kMostEntries = 24'576;
inline constexpr size_t kSentAt = kEntriesAt + kMostEntries * sizeof(Entry);
inline constexpr uint32_t kSentSlots = 16'384;
inline constexpr size_t kSequenceAt = size_t{19} << 20;  ///< if the order of calls is kept too
static_assert(kSentAt + kSentSlots * sizeof(Sent) <= kSequenceAt);

/// A part that is complete, or as much of it as there is.
struct PartView {
  const Head* head;
  std::string_view text;  ///< definitions, JSON lines
  std::span<const Entry> entries;
  std::span<const Sent> sent;           ///< with free slots
  std::span<const std::byte> sequence;  ///< for kept_sequence()
};

/// Of the bytes of a file; nothing if it is no part, or one of another version. What lies beyond
/// the end of the file is left out.
bool view_part(std::span<const std::byte> bytes, PartView& view);

}  // namespace haichi::record
