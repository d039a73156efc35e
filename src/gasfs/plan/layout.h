// Which server keeps which bytes of a file. PURE.
//
// PURE: no clock, no file, no environment.
// Paper 002, section 3.1: block (hash(path) + offset / block size) mod I/O nodes.
#pragma once

#include <cstdint>

namespace haichi::gasfs {

/// How a file is dealt out: stripes of `stripe` bytes, the first on server `first`, the next on the
/// one behind it, around all `servers`.
struct Layout {
  uint64_t stripe = uint64_t{64} << 10;  // bytes, > 0
  uint32_t servers = 1;                  // > 0
  uint32_t first = 0;                    // < servers
};

inline uint32_t server_of(const Layout& layout, uint64_t offset) {
  return static_cast<uint32_t>((layout.first + offset / layout.stripe) % layout.servers);
}

/// The bytes from `offset` to the end of its stripe.
inline uint64_t left_in_stripe(const Layout& layout, uint64_t offset) {
  return layout.stripe - offset % layout.stripe;
}

}  // namespace haichi::gasfs
