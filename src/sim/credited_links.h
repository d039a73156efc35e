// The links of a network whose buffers are finite.
//
// Before each link there is a buffer. A packet leaves a link only when the buffer before the next
// one has room for all of it (virtual cut-through with credits), and holds that room until its last
// byte has left it. The packet at the head of a buffer that can't go on blocks those behind it,
// wherever they go (head-of-line blocking): so a crowd at one port spreads to links that it does
// not use. A packet that is larger than a buffer takes the whole of one. What a node has still to
// send lies in its own memory, without a bound, and goes in order. Room is known before the link at
// once: credits take no time to come back.
//
// Where ways could wait for each other in a circle, links have lanes (virtual channels), each with
// a buffer of its own, which take turns on the link; the network says which lane a packet goes.
//
// PURE.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "placement/placement.h"
#include "sim/clockwork.h"
#include "sim/network.h"
#include "sim/packet.h"
#include "sim/timed_queue.h"

namespace haichi::sim {

/// What it is made of must outlive it.
class CreditedLinks {
 public:
  /// `free` has the time when each link is free. Buffers and words are in bytes.
  CreditedLinks(const Network& network, const placement::Placement& placement, int64_t buffer,
                int64_t word, std::span<Time> free, Clockwork& clock);

  void send(const Packet& packet);
  bool has_event() const { return !events_.empty(); }
  Time next_time() const { return events_.next().time; }
  /// Handles the event at next_time(). Returns what has come to its node by it, or `left`.
  std::optional<Packet> handle_event();

 private:
  struct Waiting {
    Packet packet;
    Time ready, tail;  ///< its first and its last byte are in the buffer
  };
  // A lane of a link, with what is in its buffer.
  struct Lane {
    std::deque<Waiting> queue;
    int64_t taken = 0;             // of the buffer, by bytes in it and on their way to it
    std::deque<uint32_t> waiters;  // lanes whose first packet waits for room here
    bool waits = false;            // is among another's waiters
  };
  struct Event {
    enum class Kind : uint8_t { go_on, room, there };
    Time time;
    Kind kind;
    uint32_t lane;
    int64_t bytes;  // of room
    Packet packet;
  };

  int link_of(uint32_t lane) const { return int(lane) / lanes_each_; }
  bool has_room(const Lane& lane, int64_t bytes) const {
    return lane.taken == 0 || bytes <= buffer_ - lane.taken;
  }
  void go_on(uint32_t at);
  void serve(uint32_t at, const Waiting& first, int next);
  void give_room(uint32_t at, int64_t bytes);

  const Network& network_;
  const placement::Placement& placement_;
  Clockwork& clock_;
  const int lanes_each_;
  const int64_t buffer_, word_;
  std::span<Time> free_;
  std::vector<Lane> lanes_;
  TimedQueue<Event> events_;
};

}  // namespace haichi::sim
