// The bodies of frames: what is asked of a server's objects and names, and the answers. Each is
// packed and unpacked here, and what unpacks can be trusted: counts, lengths and sums are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gasfs/files/node_files.h"
#include "gasfs/plan/layout.h"

namespace haichi::gasfs {

/// Bytes of a file, within an object.
struct Extent {
  uint64_t offset = 0;
  uint32_t length = 0;
};
/// As many in one frame at most.
inline constexpr uint32_t kMostExtents = 4096;
/// And as many bytes, which leaves room for the extents.
inline constexpr uint32_t kMostPayload = uint32_t{8} << 20;
/// Offsets and sizes end below this, as the kernel's do.
inline constexpr uint64_t kMostOffset = uint64_t{1} << 62;

/// Kind::write: the payload has the bytes of the extents one behind the other.
struct WriteMessage {
  Inode inode = 0;
  std::vector<Extent> extents;
  std::span<const std::byte> payload;  // of the body that was unpacked
};
/// All of the body but the payload, which follows.
std::vector<std::byte> pack_write_head(Inode inode, std::span<const Extent> extents);
Result<WriteMessage> unpack_write(std::span<const std::byte> body);

/// Kind::read. The answer has the bytes of the extents one behind the other, zeros in holes.
struct ReadMessage {
  Inode inode = 0;
  std::vector<Extent> extents;
};
std::vector<std::byte> pack_read(const ReadMessage& message);
Result<ReadMessage> unpack_read(std::span<const std::byte> body);

/// Kind::cut, remove, sync. `size` is for cut.
struct ObjectMessage {
  Inode inode = 0;
  uint64_t size = 0;
};
std::vector<std::byte> pack_object(const ObjectMessage& message);
Result<ObjectMessage> unpack_object(std::span<const std::byte> body);

/// What a server answers: the errno value, and what was asked for.
std::vector<std::byte> pack_reply(int error, std::span<const std::byte> rest = {});
struct ReplyMessage {
  int error = 0;
  std::span<const std::byte> rest;
};
Result<ReplyMessage> unpack_reply(std::span<const std::byte> body);

std::vector<std::byte> pack_space(const Space& space);
Result<Space> unpack_space(std::span<const std::byte> body);

}  // namespace haichi::gasfs
