#include "gasfs/client/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

#include "generated/libc_real.h"

namespace haichi::gasfs::client {
namespace {

constinit OpenFile files[arena::kSlots];
constinit std::atomic<int> highest_ours{-1};
constinit std::atomic<uint32_t> next_file{0};
constinit std::atomic<uint32_t> opened{0};

void release(OpenFile& file) {
  if (file.holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    file.state.store(OpenFile::unused, std::memory_order_release);
  }
}

}  // namespace

constinit std::atomic<OpenFile*> by_descriptor[kDescriptors];

uint16_t slot_of(const OpenFile& file) { return uint16_t(&file - files); }

int highest() { return highest_ours.load(std::memory_order_relaxed); }

void note_copied(OpenFile* file, int copy) {
  if (size_t(unsigned(copy)) >= kDescriptors) return;
  if (file) {
    file->holders.fetch_add(1, std::memory_order_relaxed);
    int before = highest();
    while (before < copy && !highest_ours.compare_exchange_weak(before, copy)) {
    }
  }
  OpenFile* const gone = by_descriptor[copy].exchange(file, std::memory_order_acq_rel);
  if (gone) release(*gone);
}

void note_opened(int fd, int flags) {
  // From where the last was found on: a slot is used again as late as can be.
  for (size_t i = 0; i < arena::kSlots; ++i) {
    OpenFile& file = files[next_file.fetch_add(1, std::memory_order_relaxed) % arena::kSlots];
    auto unused = OpenFile::unused;
    if (!file.state.compare_exchange_strong(unused, OpenFile::candidate)) continue;
    file.position.store(OpenFile::kInKernel, std::memory_order_relaxed);
    file.small_writes.store(0, std::memory_order_relaxed);
    file.reads.store(0, std::memory_order_relaxed);
    file.writes.store(OpenFile::not_asked, std::memory_order_relaxed);
    file.access = uint8_t(flags & O_ACCMODE);
    while ((file.number = ++opened) == 0) continue;
    file.shared.store(false, std::memory_order_relaxed);
    file.holders.store(0, std::memory_order_relaxed);
    note_copied(&file, fd);
    return;
  }
}

void note_closed(int fd) { note_copied(nullptr, fd); }

void leave_position_to_kernel(OpenFile& file, int fd) {
  int64_t position = file.position.load(std::memory_order_relaxed);
  while (position != OpenFile::kInKernel) {
    libc::real().lseek(fd, position, SEEK_SET);
    if (file.position.compare_exchange_weak(position, OpenFile::kInKernel)) return;
  }
}

void share_all() {
  for_each(0, kDescriptors, [](int fd, OpenFile& file) {
    file.shared.store(true, std::memory_order_relaxed);
    leave_position_to_kernel(file, fd);
  });
}

}  // namespace haichi::gasfs::client
