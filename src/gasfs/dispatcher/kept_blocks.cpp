#include "gasfs/dispatcher/kept_blocks.h"

#include <algorithm>

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
  bytes_ -= chunk->bytes.size();
  chunks_.erase(chunk->place);
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
  chunk->place = chunks_.insert(chunks_.end(), chunk);
  bytes_ += chunk->bytes.size();
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
    chunks_.splice(chunks_.end(), chunks_, chunk->place);
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
}

void KeptBlocks::drop_all(File& file) {
  for (const auto& [number, chunk] : file.blocks) let_go(chunk);
  file.blocks.clear();
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
  if (file != files_.end() && file->second.blocks.empty()) files_.erase(file);
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

/// Lets go what was not used for longest, but for what is still on its way.
void KeptBlocks::make_room() {
  for (auto next = chunks_.begin(); bytes_ > most_ && next != chunks_.end();) {
    const Held chunk = *next++;
    if (!chunk->arrived) continue;
    forget(chunk);
  }
}

}  // namespace haichi::gasfs
