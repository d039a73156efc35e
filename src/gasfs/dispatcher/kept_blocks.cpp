#include "gasfs/dispatcher/kept_blocks.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

namespace haichi::gasfs {
namespace {

bool is_same(const KeptBlocks::State& a, const KeptBlocks::State& b) {
  return a.changed.tv_sec == b.changed.tv_sec && a.changed.tv_nsec == b.changed.tv_nsec &&
         a.stale == b.stale;
}

}  // namespace

/// One block less is found by it.
void KeptBlocks::let_go(const Held& chunk) {
  if (--chunk->blocks > 0) return;
  bytes_of(*chunk) -= chunk->bytes.size();
  list_of(*chunk).erase(chunk->place);
}

/// It is found by nothing any more.
void KeptBlocks::forget(const Held& chunk) {
  const auto file = files_.find(chunk->inode);
  if (file == files_.end() || chunk->blocks == 0) return;
  auto& blocks = file->second.blocks;
  const auto behind = blocks.lower_bound((chunk->end() + kBlock - 1) / kBlock);
  for (auto block = blocks.lower_bound(chunk->offset / kBlock); block != behind;) {
    const bool its = block->second == chunk;
    block = its ? blocks.erase(block) : std::next(block);
    if (its) let_go(chunk);
  }
}

KeptBlocks::Held KeptBlocks::begin(File& file, Inode inode, uint64_t offset, uint64_t end,
                                   uint64_t size) {
  const uint64_t first = offset / kBlock;
  uint64_t behind = (end + kBlock - 1) / kBlock;
  const auto next = file.blocks.upper_bound(first);
  if (next != file.blocks.end()) behind = std::min(behind, next->first);
  auto chunk = std::make_shared<Chunk>();
  chunk->inode = inode;
  chunk->offset = first * kBlock;
  chunk->bytes.resize(std::min(behind * kBlock, std::max(size, end)) - chunk->offset);
  for (uint64_t block = first; block < behind; ++block) {
    Held& place = file.blocks[block];
    if (place) let_go(place);  // the file's end was in it
    place = chunk;
    ++chunk->blocks;
  }
  chunk->pinned = file.pinned;
  chunk->place = list_of(*chunk).insert(list_of(*chunk).end(), chunk);
  bytes_of(*chunk) += chunk->bytes.size();
  make_room();
  return chunk;
}

KeptBlocks::Found KeptBlocks::find(Inode inode, uint64_t offset, uint64_t end, uint64_t most,
                                   uint64_t size) {
  const std::lock_guard lock(mutex_);
  File& file = files_[inode];
  const auto there = file.blocks.find(offset / kBlock);
  if (there != file.blocks.end() && offset < there->second->end()) {
    Held chunk = there->second;
    Chunks& list = list_of(*chunk);
    list.splice(list.end(), list, chunk->place);
    uint64_t behind = there->first + 1;
    for (auto next = std::next(there); behind * kBlock < end; ++behind, ++next)
      if (next == file.blocks.end() || next->first != behind || next->second != chunk) break;
    const uint64_t until = std::min(behind * kBlock, chunk->end());
    return {std::move(chunk), until, false};
  }
  Held chunk = begin(file, inode, offset, std::min(end, offset + most), size);
  const uint64_t until = chunk->end();
  return {std::move(chunk), until, true};
}

KeptBlocks::Held KeptBlocks::missing(Inode inode, uint64_t offset, uint64_t end, uint64_t most,
                                     uint64_t size) {
  const std::lock_guard lock(mutex_);
  File& file = files_[inode];
  if (file.blocks.contains(offset / kBlock)) return nullptr;
  return begin(file, inode, offset, std::min(end, offset + most), size);
}

void KeptBlocks::arrived(const Held& chunk, int error) {
  const std::lock_guard lock(mutex_);
  chunk->arrived = true;
  chunk->error = error;
  if (error != 0) forget(chunk);
  make_room();
  came_.notify_all();
}

int KeptBlocks::wait(const Held& chunk) {
  std::unique_lock lock(mutex_);
  came_.wait(lock, [&] { return chunk->arrived; });
  return chunk->error;
}

void KeptBlocks::drop(Inode inode, uint64_t offset, uint64_t length) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file == files_.end()) return;
  auto& blocks = file->second.blocks;
  const auto from = blocks.lower_bound(offset / kBlock);
  const auto to = blocks.upper_bound((offset + length - 1) / kBlock);
  for (auto block = from; block != to; ++block) let_go(block->second);
  blocks.erase(from, to);
  end_pin(file->second);
}

void KeptBlocks::drop_all(File& file) {
  for (const auto& [number, chunk] : file.blocks) let_go(chunk);
  file.blocks.clear();
  end_pin(file);
}

void KeptBlocks::drop(Inode inode) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file == files_.end()) return;
  drop_all(file->second);
  files_.erase(file);
}

void KeptBlocks::opened(Inode inode, const State& state, int64_t asked_ms) {
  const std::lock_guard lock(mutex_);
  confirm(files_[inode], state, asked_ms);
}

void KeptBlocks::closed(Inode inode) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file != files_.end() && file->second.blocks.empty() && !file->second.pinned)
    files_.erase(file);
}

void KeptBlocks::confirm(Inode inode, const State& state, int64_t asked_ms) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file != files_.end()) confirm(file->second, state, asked_ms);
}

void KeptBlocks::confirm(File& file, const State& state, int64_t asked_ms) {
  if (!file.state || !is_same(*file.state, state)) drop_all(file);
  file.state = state;
  file.confirmed_ms = asked_ms;
}

std::optional<int64_t> KeptBlocks::confirmed_ms(Inode inode) const {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file == files_.end() || file->second.blocks.empty()) return {};
  return file->second.confirmed_ms;
}

bool KeptBlocks::has(Inode inode, uint64_t offset) const {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  return file != files_.end() && file->second.blocks.contains(offset / kBlock);
}

uint64_t KeptBlocks::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

/// What is kept of it is as other files' is.
void KeptBlocks::end_pin(File& file) {
  if (!file.pinned) return;
  for (const auto& [number, chunk] : file.blocks) {
    if (!chunk->pinned) continue;
    pinned_bytes_ -= chunk->bytes.size();
    bytes_ += chunk->bytes.size();
    chunks_.splice(chunks_.end(), pinned_chunks_, chunk->place);
    chunk->pinned = false;
  }
  file.pinned = file.coming = false;
  reserved_ -= std::exchange(file.reserved, 0);
  make_room();
  came_.notify_all();
}

int KeptBlocks::pin(Inode inode, const State& state, uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto known = files_.find(inode);
  if (known == files_.end() || !known->second.state || !is_same(*known->second.state, state))
    return ESTALE;
  File& file = known->second;
  if (file.pinned) return EEXIST;
  if (size > most_pinned_ - reserved_) return ENOSPC;
  drop_all(file);
  file.pinned = file.coming = true;
  file.reserved = size;
  reserved_ += size;
  return 0;
}

std::optional<KeptBlocks::Held> KeptBlocks::missing_of_pinned(Inode inode, uint64_t offset,
                                                              uint64_t end, uint64_t most,
                                                              uint64_t size) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file == files_.end() || !file->second.pinned) return {};
  if (file->second.blocks.contains(offset / kBlock)) return nullptr;
  return begin(file->second, inode, offset, std::min(end, offset + most), size);
}

bool KeptBlocks::pinned_whole(Inode inode) {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  if (file == files_.end() || !file->second.pinned) return false;
  file->second.coming = false;
  came_.notify_all();
  return true;
}

void KeptBlocks::unpin(Inode inode) {
  const std::lock_guard lock(mutex_);
  if (const auto file = files_.find(inode); file != files_.end()) end_pin(file->second);
}

bool KeptBlocks::is_pinned(Inode inode) const {
  const std::lock_guard lock(mutex_);
  const auto file = files_.find(inode);
  return file != files_.end() && file->second.pinned;
}

std::vector<Inode> KeptBlocks::pinned() const {
  const std::lock_guard lock(mutex_);
  std::vector<Inode> found;
  for (const auto& [inode, file] : files_)
    if (file.pinned) found.push_back(inode);
  return found;
}

uint64_t KeptBlocks::pinned_bytes() const {
  const std::lock_guard lock(mutex_);
  return pinned_bytes_;
}

int KeptBlocks::copy_pinned(Inode inode, const State& state, uint64_t offset,
                            std::span<std::byte> into, int wait_ms) {
  const auto ends = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
  std::unique_lock lock(mutex_);
  while (!into.empty()) {
    const auto file = files_.find(inode);
    if (file == files_.end() || !file->second.pinned) return ENOENT;
    if (!is_same(*file->second.state, state)) return ESTALE;
    const auto block = file->second.blocks.find(offset / kBlock);
    const bool begun = block != file->second.blocks.end();
    if (begun && block->second->arrived) {
      const Chunk& chunk = *block->second;
      // Some blocks of a chunk may be found in others, which came later.
      const uint64_t behind = std::min((offset / kBlock + 1) * kBlock, chunk.end());
      if (behind <= offset) return ESTALE;
      const auto part = into.first(std::min<uint64_t>(into.size(), behind - offset));
      std::copy_n(chunk.bytes.begin() + static_cast<ptrdiff_t>(offset - chunk.offset), part.size(),
                  part.begin());
      offset += part.size();
      into = into.subspan(part.size());
      continue;
    }
    if (!begun && !file->second.coming) return ESTALE;
    if (came_.wait_until(lock, ends) == std::cv_status::timeout) return EAGAIN;
  }
  return 0;
}

/// Lets go what was not used for longest, but for what is still on its way.
void KeptBlocks::make_room() {
  for (auto next = chunks_.begin(); bytes_ > most_ && next != chunks_.end();) {
    const Held chunk = *next++;
    if (!chunk->arrived) continue;
    forget(chunk);
  }
}

}  // namespace haichi::gasfs
