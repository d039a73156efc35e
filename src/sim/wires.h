// What is before the links of the simulated network and on them.
//
// Every link is a FIFO server: a packet occupies it for bytes / bandwidth and goes on to the next
// link when its first byte has crossed (cut-through). Buffers before a link are not bounded, so a
// packet never blocks others behind it.
//
// PURE.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "placement/placement.h"
#include "sim/clockwork.h"
#include "sim/network.h"
#include "sim/packet.h"

namespace haichi::sim {

/// What it is made of must outlive it.
class Wires {
 public:
  Wires(const Network& network, const placement::Placement& placement, Clockwork& clock)
      : network_(network),
        placement_(placement),
        clock_(clock),
        queues_(network.links().size()),
        free_(queues_.size()) {}

  /// The packet goes from its node now. Returns when its last byte has left it.
  Time send(const Packet& packet) {
    return cross(network_.port_out(placement_.node_of(packet.source)), packet, clock_.now());
  }

  /// The link's event. Returns the packet that has come to its node by it, if one has.
  std::optional<Packet> act(int link);

  /// When each port of the nodes is free: out, and in.
  std::span<Time> ports_out() { return std::span(free_).first(size_t(network_.nodes())); }
  std::span<Time> ports_in() {
    return std::span(free_).subspan(size_t(network_.nodes()), size_t(network_.nodes()));
  }

 private:
  Time cross(int link, Packet packet, Time tail);
  Time ask(int link, Packet packet);

  const Network& network_;
  const placement::Placement& placement_;
  Clockwork& clock_;
  std::vector<std::deque<Packet>> queues_;  // what is before each link or on it, by time
  std::vector<Time> free_;                  // when each link is
};

}  // namespace haichi::sim
