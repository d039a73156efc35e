#include "sim/wires.h"

#include <algorithm>

#include "base/fetch_from_memory.h"
#include "sim/draws.h"

namespace haichi::sim {

Wires::Wires(const Network& network, const placement::Placement& placement, const Machine& machine,
             uint64_t seed, Clockwork& clock)
    : network_(network),
      placement_(placement),
      clock_(clock),
      word_(int64_t(machine.word_bytes)),
      asking_(machine.rendezvous_words >= 1 ? 1 : 0),
      seed_(mixed(seed + 2)),
      queues_(machine.buffer_bytes > 0 ? 0 : network.links().size()),
      free_(network.links().size()),
      under_way_(network.adapts() ? network.links().size() : 0) {
  if (machine.buffer_bytes > 0)
    credited_.emplace(network, placement, int64_t(machine.buffer_bytes), word_, free_, clock);
}

std::optional<Time> Wires::send(Packet packet) {
  if (network_.adapts()) {
    packet.way = way_for(packet);
    note_under_way(packet, 1);
  }
  if (!credited_)
    return cross(network_.port_out(placement_.node_of(packet.from())), packet, clock_.now());
  credited_->send(packet);
  if (credited_->has_event()) clock_.set(clock_.link(0), credited_->next_time());
  return std::nullopt;
}

std::optional<Packet> Wires::act(int link) {
  if (credited_) return act_credited();
  Fifo<Packet>& queue = queues_[size_t(link)];
  const Packet packet = queue.front();
  queue.pop_front();
  if (queue.empty())
    clock_.remove(clock_.link(link));
  else
    clock_.set(clock_.link(link), queue.front().time);
  const int next = network_.next(link, placement_.node_of(packet.to()), packet.way);
  if (next < 0) {
    note_arrival(packet);
    return packet;
  }
  const Time crossing = transfer_time(packet.size(word_), network_.links()[size_t(link)].gbs);
  cross(next, packet, clock_.now() + crossing);
  return std::nullopt;
}

void Wires::fetch(int link, size_t step) const {
  if (credited_) return;
  const Fifo<Packet>& queue = queues_[size_t(link)];
  if (step == 0) {
    fetch_from_memory(&queue, sizeof queue);
    return;
  }
  if (queue.empty()) return;
  if (step == 1) return fetch_from_memory(&queue.front(), sizeof(Packet));
  const Packet& packet = queue.front();
  const int next = network_.next(link, placement_.node_of(packet.to()), packet.way);
  if (next >= 0) fetch_from_memory(&queues_[size_t(next)], sizeof queue);
}

// All links have one event together: the first one of any.
std::optional<Packet> Wires::act_credited() {
  const auto packet = credited_->handle_event();
  if (credited_->has_event())
    clock_.set(clock_.link(0), credited_->next_time());
  else
    clock_.remove(clock_.link(0));
  if (packet && packet->kind != Packet::Kind::left) note_arrival(*packet);
  return packet;
}

// The packet's first byte is before the link, and its last will be at `tail`. Returns when the
// last byte has left the link's near end.
Time Wires::cross(int link, Packet packet, Time tail) {
  if (packet.kind == Packet::Kind::request && word_ == 0) return ask(link, packet);
  Fifo<Packet>& queue = queues_[size_t(link)];
  Time& free = free_[size_t(link)];
  const Link& shape = network_.links()[size_t(link)];
  const Time begin = std::max(clock_.now(), free);
  free = std::max(begin + transfer_time(packet.size(word_), shape.gbs), tail);
  const bool last = network_.next(link, placement_.node_of(packet.to()), packet.way) < 0;
  packet.time = (last ? free : begin) + shape.latency;
  queue.push_back(packet);
  if (queue.size() == 1) clock_.set(clock_.link(link), packet.time);
  return free;
}

// The word that asks for a rendezvous, where words have no bytes.
Time Wires::ask(int link, Packet packet) {
  Fifo<Packet>& queue = queues_[size_t(link)];
  packet.time = clock_.now() + asking_ * network_.links()[size_t(link)].latency;
  insert_in_order(queue, packet);
  clock_.set(clock_.link(link), queue.front().time);
  return clock_.now();
}

uint16_t Wires::way_for(const Packet& packet) {
  Way& way = ways_[pair_of(packet)];
  if (way.packets++ == 0)
    way.way = network_.choose(placement_.node_of(packet.from()), placement_.node_of(packet.to()),
                              *this, mixed(seed_ ^ draws_++));
  return way.way;
}

void Wires::note_under_way(const Packet& packet, int sign) {
  const int to = placement_.node_of(packet.to());
  for (int link = network_.port_out(placement_.node_of(packet.from())); link >= 0;
       link = network_.next(link, to, packet.way))
    under_way_[size_t(link)] +=
        sign * transfer_time(packet.size(word_), network_.links()[size_t(link)].gbs);
}

void Wires::note_arrival(const Packet& packet) {
  if (!network_.adapts()) return;
  note_under_way(packet, -1);
  const auto at = ways_.find(pair_of(packet));
  if (--at->second.packets == 0) ways_.erase(at);
}

}  // namespace haichi::sim
