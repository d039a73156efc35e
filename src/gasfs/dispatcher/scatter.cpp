#include "gasfs/dispatcher/scatter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "gasfs/wire/messages.h"

namespace haichi::gasfs {
namespace {

/// Bytes of a frame, where there are so many: enough for the disk, little enough to follow on each
/// other.
constexpr uint64_t kFrameBytes = uint64_t{4} << 20;

}  // namespace

void Scatter::latch(NodeFile& file, int error) {
  file.error = error;
  ++file.errors;
  log(LogLevel::error, "what was written to file {} is not at its servers: {}", file.inode,
      std::strerror(error));
}

void Scatter::land(const File& file, uint64_t number, int error) {
  const std::lock_guard lock(file->mutex);
  file->flying.erase(number);
  if (error != 0) latch(*file, error);
  file->landed.notify_all();
}

bool Scatter::can_go_on_without(const Layout& layout, uint32_t server, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return !full && can_lose(layout, server);
}

bool Scatter::lose_copy(const File& file, uint64_t number, uint32_t server, int error) {
  if (!can_go_on_without(file->layout, server, error)) return false;
  if (!is_stale(file->layout, server))
    log(LogLevel::warn, "server {} has not all of file {} any more, its other copies have: {}",
        server, file->inode, std::strerror(error));
  file->layout.stale |= server_bit(server);
  names_.send({.op = NameOp::lose_copy, .inode = file->inode, .number = server},
              [file, number](const Outcome<NameReply>& reply) {
                land(file, number, reply ? 0 : reply.error());
              });
  return true;
}

void Scatter::land_at(const File& file, uint64_t number, uint32_t server, int error) {
  if (error != 0) {
    const std::lock_guard lock(file->mutex);
    if (lose_copy(file, number, server, error)) return;
  }
  land(file, number, error);
}

void Scatter::wait(const File& file, std::unique_lock<std::mutex>& lock) {
  const uint64_t last = file->issued;
  file->landed.wait(lock, [&] { return file->flying.empty() || *file->flying.begin() > last; });
}

void Scatter::finish(const File& file, std::unique_lock<std::mutex>& lock) {
  issue(file);
  wait(file, lock);
  issue_all(file);
  wait(file, lock);
}

void Scatter::send_frame(const File& file, uint32_t server, const Arranged& arranged,
                         std::span<const Run* const> runs) {
  std::vector<Extent> extents;
  uint64_t bytes = 0;
  for (const Run* run : runs) {
    extents.push_back({run->offset, static_cast<uint32_t>(run->length)});
    bytes += run->length;
  }
  const uint64_t number = ++file->issued;
  file->flying.insert(number);
  if (file->layout.copies > 1 && links_[server]->given_up() &&
      lose_copy(file, number, server, ETIMEDOUT))
    return;
  const auto head = pack_write_head(file->inode, extents);
  Outgoing frame(Kind::write, head.size() + bytes);
  std::byte* at = std::ranges::copy(head, frame.body().data()).out;
  for (const Run* run : runs)
    for (const Piece& piece : std::span(arranged.pieces).subspan(run->first_piece, run->pieces)) {
      std::memcpy(at, file->memory.data() + piece.source, piece.length);
      at += piece.length;
    }
  budget_.take(bytes);
  counts_.requests_sent += runs.size();
  counts_.bytes_sent += bytes;
  ++counts_.frames;
  links_[server]->send(std::move(frame),
                       [this, file, number, server, bytes](int error, std::span<const std::byte>) {
                         land_at(file, number, server, error);
                         budget_.give(bytes);
                       });
}

void Scatter::issue(const File& file, bool full) {
  if (file->pending.empty()) return;
  const Arranged arranged = options_.arrange ? arrange(file->pending, file->layout)
                                             : cut_only(file->pending, file->layout);
  if (options_.trace) {
    const uint32_t go = options_.trace->next_go();
    for (const Run& run : arranged.runs)
      options_.trace->sent(file->inode, run.offset, run.length, go);
    options_.trace->flush();
  }
  std::vector<std::vector<const Run*>> of_server(links_.size());
  for (const Run& run : arranged.runs)
    for (uint32_t copy = 0; copy < file->layout.copies; ++copy)
      if (const uint32_t server = copy_of(file->layout, run.server, copy);
          !is_stale(file->layout, server))
        of_server[server].push_back(&run);
  for (uint32_t server = 0; server < of_server.size(); ++server) {
    const auto& runs = of_server[server];
    for (size_t begin = 0; begin < runs.size();) {
      size_t end = begin;
      for (uint64_t bytes = 0; end < runs.size() && end - begin < kMostExtents; ++end) {
        bytes += runs[end]->length;
        if (end > begin && bytes > kFrameBytes) break;
      }
      send_frame(file, server, arranged, std::span(runs).subspan(begin, end - begin));
      begin = end;
    }
  }
  const bool in_pieces = file->memory.size() / arranged.runs.size() < file->layout.stripe / 2;
  if (full && in_pieces)
    file->sub_buffer = std::min(2 * file->sub_buffer, options_.most_sub_buffer);
  counts_.requests_gathered += file->pending.size();
  budget_.give(file->memory.size());
  file->pending.clear();
  file->memory.clear();
}

void Scatter::issue_all(const File& file) {
  issue(file);
  const bool on_its_way = !file->flying.empty();
  const bool again = file->told_early && !on_its_way;
  if (!file->grown && !again) return;
  ++file->version;  // an attribute that was asked for before this is told of does not know of it
  NameRequest grow{.op = NameOp::grow, .inode = file->inode, .number = file->size};
  if (file->grown) grow.changes.modified = file->modified;
  file->grown = false;
  file->told_early = on_its_way;
  const uint64_t number = ++file->issued;
  file->flying.insert(number);
  names_.send(std::move(grow), [file, number](Outcome<NameReply> reply) {
    land(file, number, reply ? 0 : reply.error());
  });
}

}  // namespace haichi::gasfs
