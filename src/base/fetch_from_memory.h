// Memory that is needed soon.
#pragma once

#include <cstddef>

namespace haichi {

/// Has the processor bring it into its cache, without waiting. Null is nothing.
inline void fetch_from_memory(const void* begin, size_t bytes) {
  constexpr size_t kLine = 64;
  if (begin == nullptr) return;
  for (size_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(static_cast<const char*>(begin) + at);
}

}  // namespace haichi
