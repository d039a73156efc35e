// What is before the links of the simulated network and on them.
//
// Every link is a FIFO server: a packet occupies it for bytes / bandwidth and goes on to the next
// link when its first byte has crossed (cut-through). Buffers before a link are not bounded, so a
// packet never blocks others behind it, unless the machine has buffer_bytes: credited_links.h.
//
// PURE.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "placement/placement.h"
#include "sim/clockwork.h"
#include "sim/credited_links.h"
#include "sim/network.h"
#include "sim/packet.h"

namespace haichi::sim {

/// What it is made of must outlive it.
class Wires : private Network::Congestion {
 public:
  Wires(const Network& network, const placement::Placement& placement, const Machine& machine,
        uint64_t seed, Clockwork& clock);

  /// The packet goes from its node now. Returns when its last byte has left it, or nothing if that
  /// is told of eager ones later, by a packet `left`.
  std::optional<Time> send(Packet packet);
  bool tells_of_departures() const { return credited_.has_value(); }

  /// The link's event. Returns the packet that has come to its node by it, if one has.
  std::optional<Packet> act(int link);

  /// Brings what the link needs for its event from memory, in LookAhead::kSteps steps.
  void fetch(int link, size_t step) const;

  /// When each port of the nodes is free: out, and in.
  std::span<Time> ports_out() { return std::span(free_).first(size_t(network_.nodes())); }
  std::span<Time> ports_in() {
    return std::span(free_).subspan(size_t(network_.nodes()), size_t(network_.nodes()));
  }

 private:
  // The way of two ranks' packets while any is under way, so that none overtakes another.
  struct Way {
    uint16_t way;
    int32_t packets;
  };
  static uint64_t pair_of(const Packet& packet) {
    return uint64_t(uint32_t(packet.from())) << 32 | uint32_t(packet.to());
  }

  Time before(int link) const override { return under_way_[size_t(link)]; }
  uint16_t way_for(const Packet& packet);
  void note_under_way(const Packet& packet, int sign);
  void note_arrival(const Packet& packet);
  Time cross(int link, Packet packet, Time tail);
  Time ask(int link, Packet packet);
  std::optional<Packet> act_credited();

  const Network& network_;
  const placement::Placement& placement_;
  Clockwork& clock_;
  const int64_t word_;
  const Time asking_;  // share of the latency that a word takes which asks, 0 or 1
  const uint64_t seed_;
  uint64_t draws_ = 0;
  std::vector<Fifo<Packet>> queues_;  // what is before each link or on it, by time
  std::vector<Time> free_;            // when each link is
  std::optional<CreditedLinks> credited_;
  // Of a network that adapts: the ways that were chosen, and what each link has to do for packets
  // that are under way over it.
  std::unordered_map<uint64_t, Way> ways_;
  std::vector<Time> under_way_;
};

}  // namespace haichi::sim
