#include "gasfs/dispatcher/server_parts.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace haichi::gasfs {
namespace {

/// Adds to the parts of all servers what one place needs of each. False where nobody has it but
/// servers that are to be avoided.
bool add_parts(const NodeFile& file, Place place, uint64_t far, uint64_t avoid,
               std::vector<ServerPart>& parts) {
  auto& [offset, bytes] = place;
  while (!bytes.empty()) {
    auto server = reader_of(file.layout, offset, avoid | far);
    if (!server) server = reader_of(file.layout, offset, avoid);
    if (!server) return false;
    ServerPart& part = parts[*server];
    const size_t length = std::min<uint64_t>(bytes.size(), left_in_stripe(file.layout, offset));
    auto& extents = part.message.extents;
    const bool goes_on = !extents.empty() &&
                         extents.back().offset + extents.back().length == offset &&
                         part.into.back().data() + part.into.back().size() == bytes.data();
    if (goes_on) {
      extents.back().length += static_cast<uint32_t>(length);
      part.into.back() = {part.into.back().data(), part.into.back().size() + length};
    } else {
      extents.push_back({offset, static_cast<uint32_t>(length)});
      part.into.push_back(bytes.first(length));
    }
    part.message.inode = file.inode;
    offset += length;
    bytes = bytes.subspan(length);
  }
  return true;
}

}  // namespace

std::optional<std::vector<ServerPart>> parts_of(const NodeFile& file, size_t servers,
                                                std::span<const Place> places, uint64_t far,
                                                uint64_t avoid) {
  std::vector<ServerPart> parts(servers);
  for (uint32_t i = 0; i < servers; ++i) parts[i].server = i;
  for (const Place& place : places)
    if (!add_parts(file, place, far, avoid, parts)) return std::nullopt;
  std::erase_if(parts, [](const ServerPart& part) { return part.into.empty(); });
  return parts;
}

int take_answer(const ServerPart& part, int error, std::span<const std::byte> rest) {
  size_t sum = 0;
  for (const auto& into : part.into) sum += into.size();
  if (error == 0 && rest.size() != sum) error = EIO;
  for (const auto& into : part.into) {
    if (error != 0) break;
    std::memcpy(into.data(), rest.data(), into.size());
    rest = rest.subspan(into.size());
  }
  return error;
}

}  // namespace haichi::gasfs
