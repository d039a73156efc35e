#include "gasfs/wire/frame.h"

#include <xxhash.h>

#include <algorithm>

#include "gasfs/wire/bytes.h"

namespace haichi::gasfs {
namespace {

constexpr uint32_t kMagic = 0x46534147;  // "GASF"
constexpr uint16_t kVersion = 4;

}  // namespace

uint64_t checksum_of(Kind kind, uint64_t id, std::span<const std::byte> body) {
  return XXH3_64bits_withSeed(body.data(), body.size(), id ^ static_cast<uint64_t>(kind) << 48);
}

std::array<std::byte, kHeaderBytes> pack(const Header& header) {
  Packer packer;
  packer.put(kMagic);
  packer.put(kVersion);
  packer.put(static_cast<uint16_t>(header.kind));
  packer.put(header.length);
  packer.put(uint32_t{0});
  packer.put(header.id);
  packer.put(header.checksum);
  std::array<std::byte, kHeaderBytes> bytes;
  std::ranges::copy(packer.bytes(), bytes.begin());
  return bytes;
}

Result<Header> unpack(std::span<const std::byte, kHeaderBytes> bytes) {
  Unpacker unpacker(bytes);
  const auto magic = unpacker.take<uint32_t>();
  const auto version = unpacker.take<uint16_t>();
  const auto kind = unpacker.take<uint16_t>();
  Header header{static_cast<Kind>(kind), unpacker.take<uint32_t>()};
  const auto spare = unpacker.take<uint32_t>();
  header.id = unpacker.take<uint64_t>();
  header.checksum = unpacker.take<uint64_t>();
  if (magic != kMagic) return fail(EPROTO, "what came is no frame of a gather file system");
  if (version != kVersion)
    return fail(EPROTO,
                "a frame of version {}, this haichi knows {}: use the same haichi on all "
                "nodes",
                version, kVersion);
  if (kind == 0 || kind > static_cast<uint16_t>(kLastKind) || spare != 0)
    return fail(EPROTO, "a frame of unknown kind {}", kind);
  if (header.length > kMostBody)
    return fail(EMSGSIZE, "a frame of {} bytes, {} at most", header.length, kMostBody);
  return header;
}

}  // namespace haichi::gasfs
