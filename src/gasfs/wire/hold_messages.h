// What nodes ask each other of a file that each is to hold whole (`haichi gasfs broadcast`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "gasfs/files/node_files.h"
#include "gasfs/wire/sockets.h"

namespace haichi::gasfs {

/// Kind::hold: the file is fetched from the first of these nodes that gives it, else from the
/// servers.
struct HoldMessage {
  Inode inode = 0;
  std::vector<Address> from;
};
/// As many nodes at most.
inline constexpr uint32_t kMostSources = 64;
std::vector<std::byte> pack_hold(const HoldMessage& message);
Result<HoldMessage> unpack_hold(std::span<const std::byte> body);

/// The answer to Kind::held, which asks by an ObjectMessage.
struct HeldMessage {
  enum class State : uint8_t { none, coming, held, failed };
  State state = State::none;
  uint64_t bytes = 0;    // that have come
  uint64_t size = 0;     // of the file
  uint64_t by_node = 0;  // of the bytes, those that another node gave
  std::string trouble;   // why it failed, or what went wrong on the way
};
std::vector<std::byte> pack_held(const HeldMessage& message);
Result<HeldMessage> unpack_held(std::span<const std::byte> body);

/// Kind::pull: bytes of a file as the server of names tells of it. The answer has them.
struct PullMessage {
  Inode inode = 0;
  timespec changed = {};
  uint64_t stale = 0;  // Layout::stale
  uint64_t offset = 0;
  uint32_t length = 0;  // kMostPulled at most, and not 0
};
inline constexpr uint32_t kMostPulled = uint32_t{1} << 20;
std::vector<std::byte> pack_pull(const PullMessage& message);
Result<PullMessage> unpack_pull(std::span<const std::byte> body);

}  // namespace haichi::gasfs
