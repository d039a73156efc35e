// What goes over a connection between a dispatcher and a server: a header of fixed size and a body,
// both checked before anything is done with them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"

namespace haichi::gasfs {

inline constexpr size_t kHeaderBytes = 32;
/// A longer body is refused before memory is taken for it.
inline constexpr uint32_t kMostBody = uint32_t{16} << 20;

enum class Kind : uint16_t {
  challenge = 1,  // server to client, the first of a connection
  answer,         // client to server: the proof, and who it is
  welcome,        // server to client: its own proof
  reply,          // server to client: errno and what the request asks for
  write = 16,     // bytes of an object
  read,
  cut,     // an object to a size
  remove,  // an object
  sync,    // an object to the disk, and on the server of names those too
  names,   // a NameRequest
  space,   // statvfs of the store
  status,  // JSON
  // What one node asks another, or a command all nodes (hold_messages.h).
  hold,    // a file, whole
  held,    // how far that is
  let_go,  // of a file that was to be held
  pull,    // bytes of a file that is held
};
inline constexpr Kind kLastKind = Kind::pull;

struct Header {
  Kind kind = Kind::reply;
  uint32_t length = 0;  // of the body, bytes
  uint64_t id = 0;      // a reply has its request's
  uint64_t checksum = 0;
};

/// The checksum that a header with this kind, id and body has.
uint64_t checksum_of(Kind kind, uint64_t id, std::span<const std::byte> body);

std::array<std::byte, kHeaderBytes> pack(const Header& header);
/// EPROTO for what is no header of this version, EMSGSIZE for a body that is too long.
Result<Header> unpack(std::span<const std::byte, kHeaderBytes> bytes);

}  // namespace haichi::gasfs
