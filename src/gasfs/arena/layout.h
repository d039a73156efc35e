// The memory that a program and its node's dispatcher have in common: one ring of records for each
// thread of the program that writes, filled by that thread alone and emptied by the dispatcher
// alone (paper 002, section 2.1, gathers by messages; here 40 bytes cost tens of nanoseconds). And
// a box for each thread that reads, into which it puts a question and the dispatcher the answer.
//
// A record is there when the ring's `tail` is behind it, which is stored last: of one that a dying
// program had begun nothing is seen. The dispatcher believes nothing that it reads here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace haichi::gasfs::arena {

inline constexpr uint32_t kLayoutVersion = 3;

/// Rings of one program; threads beyond go through the kernel. As many as `asking` has bits.
inline constexpr size_t kRings = 64;
/// Bytes of records in a ring, a power of two. Memory is used as far as it is written.
inline constexpr size_t kRingBytes = 4 << 20;
/// Largest record; what is larger goes through the kernel, which copies as fast.
inline constexpr size_t kLargestWrite = 64 << 10;
/// Bytes that are read at once; what is larger is read in pieces.
inline constexpr size_t kLargestRead = 1 << 20;
/// Files that one program has open by this way at once.
inline constexpr size_t kSlots = 4096;
/// Paths of which one program keeps what stat(2) told.
inline constexpr size_t kNames = 64;
/// The folders on the way of such a path, and what it leads to, at most.
inline constexpr size_t kMostSteps = 16;

/// What a record says.
enum class Kind : uint16_t {
  skip = 1,   // nothing up to the end of the ring, where the next record did not fit
  bind = 2,   // slot `slot` is from now on the open file of the ticket in `offset`
  write = 3,  // `size` bytes follow, of slot `slot`, for `offset`
};

/// Followed by its bytes, and aligned to kAlignment.
struct Record {
  uint32_t size = 0;  // bytes behind this header
  uint16_t slot = 0;
  Kind kind = Kind::skip;
  uint64_t offset = 0;
  uint64_t stamp = 0;  // stamp.h: what was written first is written first to the file
};
static_assert(sizeof(Record) == 24);
inline constexpr size_t kAlignment = 8;

/// The room that a record of so many bytes takes.
inline constexpr size_t room_of(size_t size) {
  return (sizeof(Record) + size + kAlignment - 1) & ~(kAlignment - 1);
}

/// Counts bytes since the start, which never wrap round.
struct RingHead {
  alignas(64) std::atomic<uint64_t> tail{0};  // behind what the program has written
  alignas(64) std::atomic<uint64_t> head{0};  // behind what the dispatcher has taken
  std::atomic<uint32_t> taken{0};             // moves with head, for futex(2)
  std::atomic<uint32_t> waiting{0};           // the program waits for room
};
static_assert(sizeof(RingHead) == 128);

/// What is asked for.
enum class Ask : uint16_t {
  read = 0,
  watch = 1,  // whether attributes of `size` inodes, which are in Arena::answers, may be kept
};

/// One thread's question, and its answer. The bytes of that are in Arena::answers.
struct ReadBox {
  // By the program: written before its bit in Arena::asking is set.
  alignas(64) uint64_t offset = 0;
  uint32_t size = 0;
  uint32_t number = 0;  // of the question, never 0
  uint16_t slot = 0;    // of a file, or the number of a name
  Ask ask = Ask::read;
  // By the dispatcher.
  alignas(64) std::atomic<uint32_t> answered{0};  // number of the question; stored last; futex(2)
  int32_t got = 0;     // bytes, fewer than asked for at the end of the file; or an errno, negative
  uint32_t lease = 0;  // the bytes are right as long as Arena::leases has this; 0: not at all
  int64_t until = 0;   // of Ask::watch: ns of CLOCK_BOOTTIME; `lease` is of Arena::names then
};
static_assert(sizeof(ReadBox) == 128);

/// What a slot is not fit for; bits of Arena::slots.
inline constexpr uint8_t kThroughKernel = 1;  // mapped somewhere, or an error is to be told of

struct Arena {
  uint32_t version = kLayoutVersion;
  /// The dispatcher takes no more: everything goes through the kernel.
  std::atomic<uint32_t> closed{0};
  /// How many of the rings the program has begun to use.
  std::atomic<uint32_t> rings_used{0};
  std::atomic<uint8_t> slots[kSlots] = {};
  /// Changes before the bytes do that may have been read by a slot; never 0 once one was read.
  std::atomic<uint32_t> leases[kSlots] = {};
  /// The same for what stat(2) told of names, by their numbers.
  std::atomic<uint32_t> names[kNames] = {};
  /// A bit for each thread that waits for an answer.
  alignas(64) std::atomic<uint64_t> asking{0};
  alignas(4096) RingHead heads[kRings];
  ReadBox boxes[kRings];
  alignas(4096) std::byte rings[kRings][kRingBytes];
  alignas(4096) std::byte answers[kRings][kLargestRead];
};

/// Memory that all programs of the node and the dispatcher have in common. Who scribbles here can
/// wake the dispatcher for nothing and confuse the order of what overlaps, no more.
struct Bell {
  uint32_t version = kLayoutVersion;
  /// Whether stamps are counted here rather than read off the processor's clock.
  uint32_t stamps_counted = 0;
  alignas(64) std::atomic<uint32_t> rings{0};  // futex(2): changes when somebody rings
  alignas(64) std::atomic<uint32_t> asleep{
      0};  // the dispatcher wants to be told of the next record
  alignas(64) std::atomic<uint64_t> stamps{0};
  alignas(64) std::atomic<uint32_t> questions{0};  // futex(2): changes when somebody asks
};

/// What is said on the dispatcher's socket (SOCK_SEQPACKET), before the arena and the bell come by
/// SCM_RIGHTS with the answer.
struct Hello {
  uint32_t magic = 0;    // kMagic of attach.h
  uint32_t version = 0;  // kLayoutVersion
};

}  // namespace haichi::gasfs::arena
