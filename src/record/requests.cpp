#include "record/requests.h"

#include <bit>
#include <new>

namespace haichi::record {

Requests::Requests() : nodes_(kMost), chains_(kMost), slots_(kMost / 64) {
  if (nodes_.size() == 0 || chains_.size() == 0 || slots_.size() == 0) throw std::bad_alloc();
}

uint32_t Requests::chain_of(uint64_t handle) {
  return uint32_t((handle * 0x9e3779b97f4a7c15u) >> 32) % kMost;
}

uint16_t Requests::take_slot() {
  while (slots_[first_word_] == ~uint64_t{0}) ++first_word_;  // there are as many as nodes
  const int bit = std::countr_one(slots_[first_word_]);
  slots_[first_word_] |= uint64_t{1} << bit;
  return uint16_t(first_word_ * 64 + uint32_t(bit));
}

bool Requests::add(uint64_t handle, Begun& begun) {
  uint32_t node;
  if (free_ != 0) {
    node = free_ - 1;
    free_ = nodes_[node].next;
  } else if (made_ < kMost) {
    node = made_++;
  } else {
    return false;
  }
  begun.slot = take_slot();
  begun.active = !begun.persistent;
  nodes_[node] = {handle, 0, begun};
  uint32_t* link = &chains_[chain_of(handle)];
  while (*link != 0) link = &nodes_[*link - 1].next;  // the oldest stays in front
  *link = node + 1;
  return true;
}

uint32_t* Requests::link_to(uint64_t handle) {
  uint32_t* link = &chains_[chain_of(handle)];
  while (*link != 0 && nodes_[*link - 1].handle != handle) link = &nodes_[*link - 1].next;
  return link;
}

const Begun* Requests::find(uint64_t handle) const {
  for (uint32_t next = chains_[chain_of(handle)]; next != 0; next = nodes_[next - 1].next)
    if (nodes_[next - 1].handle == handle) return &nodes_[next - 1].begun;
  return nullptr;
}

const Begun* Requests::start(uint64_t handle) {
  uint32_t* const link = link_to(handle);
  if (*link == 0) return nullptr;
  nodes_[*link - 1].begun.active = true;
  return &nodes_[*link - 1].begun;
}

void Requests::remove(uint32_t* link) {
  const uint32_t node = *link - 1;
  const uint16_t slot = nodes_[node].begun.slot;
  slots_[slot / 64] &= ~(uint64_t{1} << slot % 64);
  if (slot / 64u < first_word_) first_word_ = slot / 64;
  *link = nodes_[node].next;
  nodes_[node].next = free_;
  free_ = node + 1;
}

bool Requests::complete(uint64_t handle, Begun& begun) {
  uint32_t* const link = link_to(handle);
  if (*link == 0) return false;
  Begun& known = nodes_[*link - 1].begun;
  if (!known.active) return false;
  begun = known;
  known.active = false;
  if (!begun.persistent) remove(link);
  return true;
}

void Requests::forget(uint64_t handle) {
  uint32_t* const link = link_to(handle);
  if (*link != 0) remove(link);
}

}  // namespace haichi::record
