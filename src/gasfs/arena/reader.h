// The program's side of reading: one thread's box in the arena, and what it keeps of the last
// answer. Header only: what is preloaded calls it in each read.
#pragma once

#include <time.h>

#include <optional>
#include <span>

#include "gasfs/arena/layout.h"
#include "gasfs/arena/ring_writer.h"

namespace haichi::gasfs::arena {

/// Which open file is read: `slot` in the arena, `number` in the program's own count, which is
/// never the same for another file that the slot has later. `fd` is open on it.
struct ReadFile {
  uint16_t slot = 0;
  uint32_t number = 0;
  int fd = -1;
};

/// Used by one thread alone.
class Reader {
 public:
  Reader() = default;
  Reader(Arena& arena, size_t number, Bell& bell)
      : arena_(&arena), box_(&arena.boxes[number]), bytes_(arena.answers[number]), bell_(&bell) {
    question_ = box_->answered.load(std::memory_order_relaxed);
  }

  /// What a read got.
  struct Part {
    std::span<const std::byte> bytes;  // until the next call
    bool at_end = false;               // of the file: there is nothing behind them
  };
  /// At most `size` bytes from `offset` on, fewer also where not all are here. Nothing if the
  /// kernel is to be asked.
  std::optional<Part> read(const ReadFile& file, uint64_t offset, size_t size) {
    if (!is_kept(file, offset)) {
      if (!ask(file, offset, wanted(file, offset, size))) return {};
    }
    const uint64_t from = offset - offset_;
    const size_t length = std::min<uint64_t>(size, size_ - from);
    last_end_ = offset + length;
    // The end is told only by an answer to this read: others may write behind it.
    const bool at_end = fresh_ && length < size && size_ < asked_;
    fresh_ = false;
    return Part{{bytes_ + from, length}, at_end};
  }

  /// What the dispatcher says of a name that is to be kept.
  struct Watch {
    uint32_t lease = 0;
    int64_t until = 0;
  };
  /// Asks whether what is told of these inodes may be kept, under the number `name`. Nothing if
  /// not.
  std::optional<Watch> watch(uint16_t name, std::span<const uint64_t> inodes, int fd) {
    if (inodes.size() > kMostSteps || !is_answered()) return {};
    memcpy(arena_->answers[box_ - arena_->boxes], inodes.data(), inodes.size_bytes());
    if (!put({.size = uint32_t(inodes.size()), .slot = name, .ask = Ask::watch}, fd)) return {};
    file_ = 0;  // the bytes are not there any more
    if (box_->got < 0 || box_->lease == 0) return {};
    return Watch{box_->lease, box_->until};
  }

 private:
  /// Bytes that are asked for, where little is read and what is near will be read soon.
  static constexpr size_t kWindow = 128 << 10;
  /// Seconds after which what is kept is asked for again: other nodes may have changed it.
  static constexpr time_t kKept = 1;

  static time_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec;
  }

  bool is_kept(const ReadFile& file, uint64_t offset) const {
    return lease_ != 0 && file_ == file.number && offset >= offset_ && offset - offset_ < size_ &&
           has_lease(file) && now() - since_ <= kKept;
  }

  bool has_lease(const ReadFile& file) const {
    return arena_->leases[file.slot].load(std::memory_order_seq_cst) == lease_;
  }

  size_t wanted(const ReadFile& file, uint64_t offset, size_t size) const {
    const bool same = file_ == file.number;
    // Where the last was not to be kept, or not for long, more than is wanted is of no use.
    const bool may_keep = !same || (lease_ != 0 && has_lease(file));
    const bool near = same ? offset >= last_end_ && offset - last_end_ < kWindow : offset == 0;
    return std::min(may_keep && near ? std::max(size, kWindow) : size, kLargestRead);
  }

  /// What is put into the box.
  struct Put {
    uint64_t offset = 0;
    uint32_t size = 0;
    uint16_t slot = 0;
    Ask ask = Ask::read;
  };

  /// Of a question that was left the answer may still come, into the same place.
  bool is_answered() const {
    return box_->answered.load(std::memory_order_acquire) == question_ &&
           arena_->closed.load(std::memory_order_acquire) == 0;
  }

  /// Asks, and waits for the answer.
  bool put(const Put& what, int fd) {
    if (++question_ == 0) ++question_;
    box_->offset = what.offset;
    box_->size = what.size;
    box_->slot = what.slot;
    box_->ask = what.ask;
    box_->number = question_;
    lease_ = 0;
    arena_->asking.fetch_or(uint64_t{1} << (box_ - arena_->boxes), std::memory_order_seq_cst);
    bell_->questions.fetch_add(1, std::memory_order_seq_cst);
    futex(bell_->questions, FUTEX_WAKE, 1);
    return wait(fd);
  }

  bool ask(const ReadFile& file, uint64_t offset, size_t size) {
    if (!is_answered()) return false;
    if (!put({.offset = offset, .size = uint32_t(size), .slot = file.slot}, file.fd)) return false;
    if (box_->got < 0 || size_t(box_->got) > size) return false;
    file_ = file.number;
    offset_ = offset;
    size_ = size_t(box_->got);
    asked_ = size;
    lease_ = box_->lease;
    since_ = now();
    fresh_ = true;
    return true;
  }

  /// The dispatcher gives each read its time, as the mount does: only its end ends the wait.
  bool wait(int fd) {
    for (int round = 1;; ++round) {
      const uint32_t answered = box_->answered.load(std::memory_order_acquire);
      if (answered == question_) return true;
      const timespec tenth{0, 100'000'000};
      futex(box_->answered, FUTEX_WAIT, answered, &tenth);
      const bool there =
          arena_->closed.load(std::memory_order_acquire) == 0 && (round % 5 != 0 || is_served(fd));
      if (!there) return box_->answered.load(std::memory_order_acquire) == question_;
    }
  }

  Arena* arena_ = nullptr;
  ReadBox* box_ = nullptr;
  const std::byte* bytes_ = nullptr;
  Bell* bell_ = nullptr;
  uint32_t question_ = 0;
  // What is in the arena of this thread's last answer.
  uint32_t file_ = 0;
  uint32_t lease_ = 0;
  uint64_t offset_ = 0;
  size_t size_ = 0;
  size_t asked_ = 0;
  time_t since_ = 0;
  bool fresh_ = false;
  uint64_t last_end_ = 0;  // behind what was read last
};

}  // namespace haichi::gasfs::arena
