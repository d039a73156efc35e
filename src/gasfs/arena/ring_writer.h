// The program's side of a ring. Header only: what is preloaded calls it in each write.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "gasfs/arena/layout.h"
#include "gasfs/arena/stamp.h"

namespace haichi::gasfs::arena {

inline long futex(std::atomic<uint32_t>& word, int operation, uint32_t value,
                  const timespec* patience = nullptr) {
  return syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, patience, nullptr,
                 0);
}

/// Wakes the dispatcher.
inline void ring_bell(Bell& bell) {
  bell.rings.fetch_add(1, std::memory_order_release);
  futex(bell.rings, FUTEX_WAKE, 1);
}

/// Whether the dispatcher behind a descriptor is there: asked of the kernel, which knows.
inline bool is_served(int fd) {
  struct statx about;
  return syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &about) == 0;
}

/// One thread's ring. Used by that thread alone.
class RingWriter {
 public:
  RingWriter() = default;
  RingWriter(Arena& arena, size_t number, Bell& bell)
      : arena_(&arena),
        ring_(&arena.heads[number]),
        bytes_(arena.rings[number]),
        bell_(&bell),
        tail_(ring_->tail.load(std::memory_order_relaxed)),
        head_(ring_->head.load(std::memory_order_acquire)),
        counted_(bell.stamps_counted != 0) {}

  /// Puts a record into the ring whose `record.size` bytes (at most kLargestWrite) `fill` writes to
  /// where it is told. Waits for room. False if the dispatcher takes no more, has not for seconds,
  /// or is not there any more, which the descriptor `fd` of one of its files tells (-1: none):
  /// nothing is in the ring then.
  template <class Fill>
  bool put(Record record, Fill&& fill, int fd = -1) {
    const size_t room = room_of(record.size);
    size_t at = tail_ & (kRingBytes - 1);
    // Never split: what does not fit before the end of the ring begins at its start.
    const size_t skipped = kRingBytes - at < room ? kRingBytes - at : 0;
    if (tail_ + skipped + room - head_ > kRingBytes) {
      head_ = ring_->head.load(std::memory_order_acquire);
      if (tail_ + skipped + room - head_ > kRingBytes && !wait_for(skipped + room, fd))
        return false;
    }
    if (skipped != 0) {
      const Record skip{.size = uint32_t(skipped - std::min(skipped, sizeof(Record)))};
      memcpy(bytes_ + at, &skip, std::min(skipped, sizeof skip));
      at = 0;
    }
    record.stamp = next_stamp(*bell_, counted_);
    memcpy(bytes_ + at, &record, sizeof record);
    fill(bytes_ + at + sizeof record);
    const uint64_t before = tail_;
    tail_ += skipped + room;
    ring_->tail.store(tail_, std::memory_order_release);
    if (bell_->asleep.load(std::memory_order_relaxed) != 0 || is_half_full_since(before)) notify();
    return true;
  }

 private:
  bool is_half_full_since(uint64_t before) {
    constexpr uint64_t kHalf = kRingBytes / 2;
    if (tail_ - head_ < kHalf || before - head_ >= kHalf) return false;
    head_ = ring_->head.load(std::memory_order_acquire);
    return tail_ - head_ >= kHalf;
  }
  [[gnu::noinline]] void notify() {
    bell_->asleep.store(0, std::memory_order_relaxed);
    ring_bell(*bell_);
  }
  [[gnu::noinline]] bool wait_for(size_t room, int fd) {
    for (int round = 0; round < kPatience; ++round) {
      if (arena_->closed.load(std::memory_order_acquire) != 0) return false;
      const uint32_t taken = ring_->taken.load(std::memory_order_acquire);
      ring_->waiting.store(1, std::memory_order_seq_cst);
      head_ = ring_->head.load(std::memory_order_seq_cst);
      if (tail_ + room - head_ <= kRingBytes) return true;
      notify();
      const timespec tenth{0, 100'000'000};
      futex(ring_->taken, FUTEX_WAIT, taken, &tenth);
      if (round % 5 == 4 && fd >= 0 && !is_served(fd)) return false;
    }
    return false;
  }

  static constexpr int kPatience = 300;  // tenths of a second

  Arena* arena_ = nullptr;
  RingHead* ring_ = nullptr;
  std::byte* bytes_ = nullptr;
  Bell* bell_ = nullptr;
  uint64_t tail_ = 0;
  uint64_t head_ = 0;  // as it was last seen
  bool counted_ = false;
};

}  // namespace haichi::gasfs::arena
