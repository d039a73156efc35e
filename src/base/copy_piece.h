// Copies of single pieces, as gathering and scattering make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace haichi {

/// The first and the last `Part` bytes, which overlap in the middle: two moves without a loop.
template <size_t Part>
inline void copy_ends(std::byte* to, const std::byte* from, size_t size) {
  std::byte head[Part], tail[Part];
  memcpy(head, from, Part);
  memcpy(tail, from + (size - Part), Part);
  memcpy(to, head, Part);
  memcpy(to + (size - Part), tail, Part);
}

/// memcpy() of a size that is not known beforehand and mostly small: calling it takes longer than
/// moving 64 bytes.
inline void copy_piece(std::byte* to, const std::byte* from, int64_t bytes) {
  const auto size = size_t(bytes);
  if (size > 64 || size < 4) {
    memcpy(to, from, size);
  } else if (size >= 32) {
    copy_ends<32>(to, from, size);
  } else if (size >= 16) {
    copy_ends<16>(to, from, size);
  } else if (size >= 8) {
    copy_ends<8>(to, from, size);
  } else {
    copy_ends<4>(to, from, size);
  }
}

}  // namespace haichi
