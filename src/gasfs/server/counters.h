// What a server has done since it began.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "gasfs/files/node_files.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {

/// Counts what the disk is asked for: requests, and as seeks those that do not begin where the one
/// before ended (paper 002, table 3). Thread-safe.
class Counters {
 public:
  void count_write(Inode inode, std::span<const Extent> extents) {
    const std::lock_guard lock(mutex_);
    for (const Extent& extent : extents) {
      ++write_requests;
      if (inode != head_inode_ || extent.offset != head_) ++write_seeks;
      head_inode_ = inode;
      head_ = extent.offset + extent.length;
      written_bytes += extent.length;
    }
  }

  std::atomic<uint64_t> frames{0};
  std::atomic<uint64_t> write_requests{0};
  std::atomic<uint64_t> write_seeks{0};
  std::atomic<uint64_t> written_bytes{0};
  std::atomic<uint64_t> read_requests{0};
  std::atomic<uint64_t> read_bytes{0};
  std::atomic<uint64_t> name_requests{0};
  std::atomic<uint64_t> failed_requests{0};
  std::atomic<uint64_t> refused_connections{0};

 private:
  std::mutex mutex_;
  Inode head_inode_ = 0;
  uint64_t head_ = 0;
};

}  // namespace haichi::gasfs
