#include "sim/wires.h"

#include <algorithm>

namespace haichi::sim {

std::optional<Packet> Wires::act(int link) {
  std::deque<Packet>& queue = queues_[size_t(link)];
  const Packet packet = queue.front();
  queue.pop_front();
  if (queue.empty())
    clock_.remove(clock_.link(link));
  else
    clock_.set(clock_.link(link), queue.front().time);
  const int next = network_.next(link, placement_.node_of(packet.target));
  if (next < 0) return packet;
  const Time tail = clock_.now() + transfer_time(packet.bytes, network_.links()[size_t(link)].gbs);
  cross(next, packet, tail);
  return std::nullopt;
}

// The packet's first byte is before the link, and its last will be at `tail`. Returns when the
// last byte has left the link's near end.
Time Wires::cross(int link, Packet packet, Time tail) {
  if (packet.kind == Packet::Kind::request) return ask(link, packet);
  std::deque<Packet>& queue = queues_[size_t(link)];
  Time& free = free_[size_t(link)];
  const Link& shape = network_.links()[size_t(link)];
  const Time begin = std::max(clock_.now(), free);
  free = std::max(begin + transfer_time(packet.bytes, shape.gbs), tail);
  const bool last = network_.next(link, placement_.node_of(packet.target)) < 0;
  packet.time = (last ? free : begin) + shape.latency;
  queue.push_back(packet);
  if (queue.size() == 1) clock_.set(clock_.link(link), packet.time);
  return free;
}

// The word that asks for a rendezvous.
Time Wires::ask(int link, Packet packet) {
  std::deque<Packet>& queue = queues_[size_t(link)];
  packet.time = clock_.now() + network_.links()[size_t(link)].latency;
  insert_in_order(queue, packet);
  clock_.set(clock_.link(link), queue.front().time);
  return clock_.now();
}

}  // namespace haichi::sim
