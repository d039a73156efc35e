// How much of a file is in memory before the first byte that storage has to give, from a few looks
// at its page cache.
//
// Why that decides who reads: the kernel reads ahead as far as it is asked to, so one call for all
// that is on storage keeps three times as many requests on their way as calls for a piece each, by
// whichever threads (docs/guide/measurements.md, "Cold files"). Bytes that are in memory are worth
// several threads; from the first one on storage on, only the plain call.
#pragma once

#include <cstdint>

#include "base/os.h"

namespace haichi::numaio {

/// The operating system with reads of what is in memory alone.
class CacheOs : public Os {
 public:
  /// As pread up to the first byte that is not in the page cache: -EAGAIN if that is the first of
  /// all (preadv2(2), RWF_NOWAIT); -EOPNOTSUPP or -ENOSYS where that is not told.
  virtual int64_t pread_cached(int fd, void* data, size_t size, int64_t offset);
};

CacheOs& real_cache_os();

/// Of the `bytes` bytes of an open file from `offset` on those before the first place that was
/// seen to be on storage; all of them where the kernel does not tell. A look of some 250 ns for
/// each MiB and no more than 64, ending at the first that finds nothing: what lies between two
/// looks may be on storage all the same.
///
/// Asks cachestat(2) (Linux 6.5), which answers who may write the file, else eight reads that do
/// not wait (RWF_NOWAIT): the one that finds nothing has the kernel fetch some pages there.
int64_t bytes_before_storage(int fd, int64_t offset, int64_t bytes);

}  // namespace haichi::numaio
