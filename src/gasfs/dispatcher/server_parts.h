// What of a read each server is asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gasfs/dispatcher/node_file.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {

/// What one server has of a read, and where its bytes go.
struct ServerPart {
  uint32_t server = 0;
  ReadMessage message;
  std::vector<std::span<std::byte>> into;
  int error = 0;
};

/// What is read: bytes of a file, and where they go.
struct Place {
  uint64_t offset;
  std::span<std::byte> bytes;
};

/// What each server is asked for, the others left out; none where nobody can be asked.
std::optional<std::vector<ServerPart>> parts_of(const NodeFile& file, size_t servers,
                                                std::span<const Place> places, uint64_t far,
                                                uint64_t avoid);

/// Puts a server's answer where it belongs.
int take_answer(const ServerPart& part, int error, std::span<const std::byte> rest);

}  // namespace haichi::gasfs
