// The dispatcher's side of a ring, which believes nothing that stands there.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "gasfs/arena/layout.h"

namespace haichi::gasfs::arena {

class RingReader {
 public:
  explicit RingReader(RingHead& head, const std::byte* bytes) : ring_(&head), bytes_(bytes) {}

  bool is_empty() const { return ring_->tail.load(std::memory_order_acquire) == head_; }

  /// Takes what is in the ring now as what peek gives. False if that cannot be.
  bool look() {
    tail_ = ring_->tail.load(std::memory_order_acquire);
    return tail_ - head_ <= kRingBytes && tail_ % kAlignment == 0;
  }

  /// The next record of those that look() saw, as it was read once; none at the end. `sound`
  /// becomes false if it can't be one.
  std::optional<Record> peek(bool& sound) {
    while (head_ != tail_) {
      const size_t at = head_ & (kRingBytes - 1);
      const size_t here = std::min<uint64_t>(kRingBytes - at, tail_ - head_);
      if (here < sizeof(Record) && kRingBytes - at == here) {  // too little for a header: skipped
        advance(here);
        continue;
      }
      Record record;
      if (here < sizeof record) return unsound(sound);
      memcpy(&record, bytes_ + at, sizeof record);
      if (record.kind == Kind::skip) {
        if (record.size != kRingBytes - at - sizeof record || here != kRingBytes - at) {
          return unsound(sound);
        }
        advance(here);
        continue;
      }
      if (record.size > kLargestWrite || room_of(record.size) > here || record.slot >= kSlots) {
        return unsound(sound);
      }
      return record;
    }
    return {};
  }

  /// The bytes behind the header of the record that peek gave.
  std::span<const std::byte> bytes(const Record& record) const {
    return {bytes_ + (head_ & (kRingBytes - 1)) + sizeof record, record.size};
  }

  /// Done with that record.
  void pop(const Record& record) { advance(room_of(record.size)); }

  /// Tells the program of the room that there is now; true if it waits for that.
  bool publish() {
    if (published_ == head_) return false;
    published_ = head_;
    ring_->head.store(head_, std::memory_order_seq_cst);
    ring_->taken.fetch_add(1, std::memory_order_release);
    return ring_->waiting.exchange(0, std::memory_order_seq_cst) != 0;
  }

  RingHead& head() const { return *ring_; }

 private:
  void advance(size_t bytes) { head_ += bytes; }
  static std::optional<Record> unsound(bool& sound) {
    sound = false;
    return {};
  }

  RingHead* ring_;
  const std::byte* bytes_;
  uint64_t head_ = 0;  // own; what stands in the ring is for the program
  uint64_t tail_ = 0;
  uint64_t published_ = 0;
};

}  // namespace haichi::gasfs::arena
