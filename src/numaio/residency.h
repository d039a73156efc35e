// Which bytes of a file storage has to give, from a few looks at its page cache.
//
// Why that decides who reads them: the kernel reads ahead as far as it is asked to, so one call for
// all of the bytes keeps three times as many requests on their way to storage as calls for a piece
// each, by whichever threads (docs/guide/measurements.md, "Cold files"). Bytes that are in memory
// are worth several threads; those on storage, one call.
#pragma once

#include <cstdint>
#include <vector>

#include "numaio/page_map.h"
#include "numaio/piece.h"

namespace haichi::numaio {

/// Of the `bytes` bytes of an open file from `offset` on those that are not in memory, counted from
/// `offset`: ascending, apart. None where the kernel does not tell. Sampled, a look of some 250 ns
/// for each MiB and no more than kSamples, so single pages may be missed.
///
/// Asks cachestat(2) (Linux 6.5), which answers who may write the file, else reads that do not wait
/// (RWF_NOWAIT): the first of those that finds nothing has the kernel fetch some pages there.
std::vector<Piece> on_storage(int fd, int64_t offset, int64_t bytes);

/// The same of a map whose kUntouched pages are on storage, and of which the transfer begins `lead`
/// bytes into the first page. What lies in turns counts as on storage, and so does what is too
/// short a stretch of memory to be a piece of its own.
std::vector<Piece> parts_on_storage(const PageMap& map, int64_t lead, int64_t bytes,
                                    int64_t page_bytes);

}  // namespace haichi::numaio
