// Copies of large blocks that pass by the caches, for memory that haichi owns and that nobody reads
// soon: memcpy() reads each line that it is about to overwrite, which is a third of the traffic.
//
// Which way is fastest differs from processor to processor, so it is measured once, at the first
// large copy. Not for a program's own buffers, which it may want to find in its caches.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace haichi::numaio {

/// A way to copy. A copy engine of the processor (Intel DSA) would be a further one.
struct CopyKernel {
  std::string_view name;
  void (*copy)(std::byte* to, const std::byte* from, size_t bytes);
};

/// Those that this processor can do; the first is memcpy(). They differ in speed alone.
std::span<const CopyKernel> copy_kernels();

/// The fastest, measured at the first call, which takes some milliseconds.
const CopyKernel& fastest_kernel();

}  // namespace haichi::numaio
