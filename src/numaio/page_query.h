// Asks the kernel where pages lie.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "base/result.h"
#include "numaio/page_map.h"

namespace haichi::numaio {

/// Of the pages of this process at `page` * `page_bytes` from `base`, or of the process `pid`
/// (move_pages(2), which moves nothing here). Fails with EPERM or ESRCH for others' processes, with
/// ENOSYS or whatever a filter of system calls says where that is forbidden.
LookUp memory_pages(uintptr_t base, int64_t page_bytes, pid_t pid = 0);

/// The page cache of one file, without reading anything from storage.
class FilePages {
 public:
  /// Of a file that is open for reading. Fails as mmap(2) does, with EINVAL for an empty file.
  static Result<FilePages> open(int fd, int64_t file_bytes);
  FilePages(FilePages&& other) noexcept;
  FilePages& operator=(FilePages&&) = delete;
  ~FilePages();

  int64_t pages() const;
  /// kUntouched is a page that is not cached, kUnknown one that came or went meanwhile, or of which
  /// the kernel (before 5.14) does not say without a risk for us if somebody truncates the file.
  Status look_up(std::span<const int64_t> pages, std::span<int> nodes) const;
  /// How many are cached, by mincore(2), which says "all" of files that this user may not write.
  Result<int64_t> cached() const;

 private:
  FilePages(void* memory, int64_t bytes) : memory_(memory), bytes_(bytes) {}
  void* memory_;
  int64_t bytes_;
};

int64_t page_size();

}  // namespace haichi::numaio
