// Which server keeps which bytes of a file, and who has a copy of them. PURE.
//
// PURE: no clock, no file, no environment.
// Paper 002, section 3.1: block (hash(path) + offset / block size) mod I/O nodes. Copies are not in
// the paper.
#pragma once

#include <cstdint>
#include <optional>

namespace haichi::gasfs {

/// How a file is dealt out: stripes of `stripe` bytes, the first on server `first`, the next on the
/// one behind it, around all `servers`. A second copy of a stripe is on the server behind its
/// first.
struct Layout {
  uint64_t stripe = uint64_t{64} << 10;  // bytes, > 0
  uint32_t servers = 1;                  // > 0
  uint32_t first = 0;                    // < servers
  uint32_t copies = 1;                   // 1 or 2, not more than servers
  /// With two copies: servers, a bit each, whose objects lack something that the other copies have.
  /// Of two servers that share a stripe one at most.
  uint64_t stale = 0;
};
inline constexpr uint32_t kMostCopies = 2;
inline constexpr uint32_t kMostServersWithCopies = 64;

inline uint64_t server_bit(uint32_t server) { return uint64_t{1} << server; }

/// Of the first copy.
inline uint32_t server_of(const Layout& layout, uint64_t offset) {
  return static_cast<uint32_t>((layout.first + offset / layout.stripe) % layout.servers);
}

/// Of another copy of what has its first one on `server`.
inline uint32_t copy_of(const Layout& layout, uint32_t server, uint32_t copy) {
  return (server + copy) % layout.servers;
}

inline bool is_stale(const Layout& layout, uint32_t server) {
  return layout.copies > 1 && (layout.stale & server_bit(server)) != 0;
}

/// Who can be asked for the byte at `offset`, without the servers of `avoid`, a bit each; those
/// that are stale are avoided always. A file with one copy has no choice.
inline std::optional<uint32_t> reader_of(const Layout& layout, uint64_t offset, uint64_t avoid) {
  const uint32_t first = server_of(layout, offset);
  if (layout.copies == 1) return first;
  for (uint32_t copy = 0; copy < layout.copies; ++copy)
    if (const uint32_t server = copy_of(layout, first, copy);
        ((layout.stale | avoid) & server_bit(server)) == 0)
      return server;
  return std::nullopt;
}

/// Whether all that `server` has is on others too, of which none is stale.
inline bool can_lose(const Layout& layout, uint32_t server) {
  if (layout.copies == 1) return false;
  const uint32_t before = copy_of(layout, server, layout.servers - 1);
  return !is_stale(layout, before) && !is_stale(layout, copy_of(layout, server, 1));
}

/// The bytes from `offset` to the end of its stripe.
inline uint64_t left_in_stripe(const Layout& layout, uint64_t offset) {
  return layout.stripe - offset % layout.stripe;
}

}  // namespace haichi::gasfs
