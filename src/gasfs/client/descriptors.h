// What a preloaded program has open on the mount and may read and write by its arena: a table by
// descriptor. Plain data that is zero at the start, since nothing may depend on a constructor
// having run (docs/adr/0004-preload-objects.md).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "gasfs/arena/layout.h"

namespace haichi::gasfs::client {

/// An open file description. Descriptors that are copies of one another have it in common.
struct OpenFile {
  /// The file position is the kernel's, because somebody else may have the description too, or has
  /// read by it. A write reserves its place by lseek(2) then.
  static constexpr int64_t kInKernel = -1;

  enum State : uint8_t {
    unused,     // by nobody
    candidate,  // on the mount; has not been used often enough to be worth asking for
    attached,   // its slot is bound
    refused,    // everything goes through the kernel
  };
  enum Writes : uint8_t { not_asked, granted, denied };

  std::atomic<int64_t> position{kInKernel};
  std::atomic<int32_t> holders{0};
  std::atomic<State> state{unused};
  std::atomic<Writes> writes{not_asked};  // whether they may go into a ring, once it is attached
  std::atomic<uint8_t> small_writes{0};
  std::atomic<uint8_t> reads{0};
  uint8_t access = 0;               // O_ACCMODE bits of open(2)
  uint32_t number = 0;              // of all that were opened; never 0
  std::atomic<bool> shared{false};  // with another process
};

/// Descriptors from here on go through the kernel.
inline constexpr size_t kDescriptors = 65536;

extern constinit std::atomic<OpenFile*> by_descriptor[kDescriptors];

/// Null if the descriptor is nothing of ours, as nearly all are.
inline OpenFile* file_of(int fd) {
  if (size_t(unsigned(fd)) >= kDescriptors) return nullptr;
  return by_descriptor[fd].load(std::memory_order_relaxed);
}

/// The number of its slot in the arena.
uint16_t slot_of(const OpenFile& file);

/// The descriptor has just been opened on the mount. Nothing if there is no slot left.
void note_opened(int fd, int flags);
/// `copy` is now a copy of the descriptor whose file is `file`; null: of nothing of ours.
void note_copied(OpenFile* file, int copy);
/// The descriptor is about to be closed, or to become something that writes on its own.
void note_closed(int fd);

/// From now on the kernel has the position of this file, which `fd` is open on.
void leave_position_to_kernel(OpenFile& file, int fd);
/// The same of all, because a process that comes of this one will have them too.
void share_all();
/// Calls `act(fd, file)` for each of ours from `first` to `last`.
template <class Act>
void for_each(unsigned first, unsigned last, Act&& act);

/// No descriptor above this one was ever ours.
int highest();

template <class Act>
void for_each(unsigned first, unsigned last, Act&& act) {
  for (int64_t fd = first; fd <= int64_t(last) && fd <= highest(); ++fd) {
    if (OpenFile* const file = file_of(int(fd))) act(int(fd), *file);
  }
}

}  // namespace haichi::gasfs::client
