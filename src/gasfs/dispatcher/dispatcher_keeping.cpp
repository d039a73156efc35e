// Reading of what is kept, and ahead of who reads.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "gasfs/dispatcher/dispatcher.h"

namespace haichi::gasfs {
namespace {

/// Bytes that are asked for at once, of what somebody waits for and of what nobody does yet.
constexpr uint64_t kMostRead = uint64_t{4} << 20;
constexpr uint64_t kMostAhead = uint64_t{1} << 20;

/// Chunks that come together.
struct Coming {
  std::vector<KeptBlocks::Held> chunks;
  std::vector<ServerPart> parts;
  std::atomic<size_t> left{0};
  std::atomic<int> error{0};
};

}  // namespace

int64_t Dispatcher::now_ms() { return now_ns() / 1'000'000; }

bool Dispatcher::is_kept_for_long(Inode inode) const {
  const auto confirmed = kept_.confirmed_ms(inode);
  return confirmed && now_ms() - *confirmed > options_.linger_ms;
}

Outcome<size_t> Dispatcher::read_kept(Description& description, uint64_t offset,
                                      std::span<std::byte> bytes, uint64_t size) {
  const File& file = description.file;
  if (options_.cache == 0 && !kept_.is_pinned(file->inode)) {
    bool overlaid = false;
    const auto part = bytes.first(std::min<uint64_t>(bytes.size(), kMostRead));
    if (const int error = read_part(file, offset, part, overlaid); error != 0)
      return tl::unexpected(error);
    return part.size();
  }
  // What somebody waits for is asked for before what nobody does.
  const bool here = kept_.has(file->inode, offset);
  if (here) look_ahead(description, offset, bytes.size());
  const auto got = read_some(file, offset, bytes, size);
  if (!here && got) look_ahead(description, offset, bytes.size());
  return got;
}

Outcome<size_t> Dispatcher::read_some(const File& file, uint64_t offset, std::span<std::byte> bytes,
                                      uint64_t size) {
  const auto found = kept_.find(file->inode, offset, offset + bytes.size(), kMostRead, size);
  KeptBlocks::Chunk& chunk = *found.chunk;
  const auto part = bytes.first(std::min<uint64_t>(bytes.size(), found.until - offset));
  bool overlaid = false;
  int error = 0;
  if (found.to_fetch) {
    error = read_part(file, chunk.offset, chunk.bytes, overlaid);
    // What the servers do not have yet may never come to them.
    if (overlaid) kept_.drop(file->inode, chunk.offset, chunk.bytes.size());
    kept_.arrived(found.chunk, error);
  } else if (kept_.wait(found.chunk) != 0) {  // it was read ahead, which tries once only
    error = read_part(file, offset, part, overlaid);
    if (error == 0) return part.size();
  }
  if (error != 0) return tl::unexpected(error);
  std::memcpy(part.data(), chunk.bytes.data() + (offset - chunk.offset), part.size());
  return part.size();
}

void Dispatcher::look_ahead(Description& description, uint64_t offset, uint64_t length) {
  const File& file = description.file;
  const std::lock_guard lock(file->mutex);
  const auto own = description.reads.read(offset, length);
  const auto all = file->reads.read(offset, length);
  if (own) read_ahead(file, *own);
  if (all) read_ahead(file, *all);
}

void Dispatcher::read_ahead(const File& file, const Ahead& ahead) {
  std::vector<KeptBlocks::Held> chunks;
  uint64_t together = 0, left = options_.cache / 4;
  for (uint32_t i = 0; i < ahead.count; ++i) {
    const uint64_t begin = ahead.offset + i * ahead.stride;
    const uint64_t end = std::min(begin + std::min(ahead.length, left), file->size);
    for (uint64_t at = begin; at < end;) {
      auto chunk = kept_.missing(file->inode, at, end, kMostAhead - together, file->size);
      if (!chunk) {
        at = (at / KeptBlocks::kBlock + 1) * KeptBlocks::kBlock;
        continue;
      }
      at = chunk->end();
      together += chunk->bytes.size();
      left -= std::min<uint64_t>(left, chunk->bytes.size());
      chunks.push_back(std::move(chunk));
      if (together < kMostAhead) continue;
      fetch(file, std::exchange(chunks, {}));
      together = 0;
    }
  }
  if (!chunks.empty()) fetch(file, std::move(chunks));
}

void Dispatcher::fetch(const File& file, std::vector<KeptBlocks::Held> chunks) {
  auto coming = std::make_shared<Coming>();
  std::vector<Place> places;
  for (auto& chunk : chunks) {
    // What is gathered and not sent goes over what the servers have: left to who asks for it.
    if (!overlay(file->pending, chunk->offset, chunk->bytes.size()).empty()) {
      kept_.arrived(chunk, EAGAIN);
      continue;
    }
    places.push_back({chunk->offset, chunk->bytes});
    coming->chunks.push_back(std::move(chunk));
  }
  auto parts = share_out(file, places, 0);
  if (!parts) {
    for (const auto& chunk : coming->chunks) kept_.arrived(chunk, EIO);
    return;
  }
  for (const Place& place : places) ahead_bytes_ += place.bytes.size();
  coming->parts = std::move(*parts);
  coming->left = coming->parts.size();
  for (ServerPart& part : coming->parts)
    ask_for(file, part, [this, coming](int error) {
      if (error != 0) coming->error = error;
      if (--coming->left > 0) return;
      for (const auto& chunk : coming->chunks) kept_.arrived(chunk, coming->error);
    });
}

}  // namespace haichi::gasfs
