#include "sim/credited_links.h"

#include <algorithm>

namespace haichi::sim {

CreditedLinks::CreditedLinks(const Network& network, const placement::Placement& placement,
                             int64_t buffer, int64_t word, std::span<Time> free, Clockwork& clock)
    : network_(network),
      placement_(placement),
      clock_(clock),
      lanes_each_(network.lanes()),
      buffer_(buffer),
      word_(word),
      free_(free),
      lanes_(network.links().size() * size_t(network.lanes())) {}

void CreditedLinks::send(const Packet& packet) {
  const int port = network_.port_out(placement_.node_of(packet.from()));
  const auto at = uint32_t(port * lanes_each_);
  lanes_[at].queue.push_back({packet, clock_.now(), clock_.now()});
  if (lanes_[at].queue.size() == 1) go_on(at);
}

std::optional<Packet> CreditedLinks::handle_event() {
  const Event event = events_.take();
  if (event.kind == Event::Kind::there) return event.packet;
  if (event.kind == Event::Kind::room)
    give_room(event.lane, event.bytes);
  else
    go_on(event.lane);
  return std::nullopt;
}

// The lane's first packet goes, if it can; else this is called again when that may have changed.
void CreditedLinks::go_on(uint32_t at) {
  Lane& lane = lanes_[at];
  if (lane.queue.empty() || lane.waits) return;
  const Waiting& first = lane.queue.front();
  const int link = link_of(at);
  const Time begin = std::max(first.ready, free_[size_t(link)]);
  if (begin > clock_.now()) return events_.push({begin, Event::Kind::go_on, at, 0, {}});
  const int next = network_.next(link, placement_.node_of(first.packet.to()), first.packet.way);
  if (next < 0) return serve(at, first, -1);
  const int next_lane = network_.lane(int(at) % lanes_each_, link, next);
  const auto ahead = uint32_t(next * lanes_each_ + next_lane);
  if (has_room(lanes_[ahead], first.packet.size(word_))) return serve(at, first, int(ahead));
  lane.waits = true;
  lanes_[ahead].waiters.push_back(at);
}

// The packet crosses the link now, to the buffer of the lane `next`, or to its node.
void CreditedLinks::serve(uint32_t at, const Waiting& first, int next) {
  const Waiting moving = first;
  const int link = link_of(at);
  const Link& shape = network_.links()[size_t(link)];
  const int64_t bytes = moving.packet.size(word_);
  const Time end = std::max(clock_.now() + transfer_time(bytes, shape.gbs), moving.tail);
  free_[size_t(link)] = end;
  lanes_[at].queue.pop_front();
  if (next < 0) {
    events_.push({end + shape.latency, Event::Kind::there, at, 0, moving.packet});
  } else {
    Lane& ahead = lanes_[size_t(next)];
    ahead.taken += bytes;
    ahead.queue.push_back({moving.packet, clock_.now() + shape.latency, end + shape.latency});
    if (ahead.queue.size() == 1)
      events_.push({clock_.now() + shape.latency, Event::Kind::go_on, uint32_t(next), 0, {}});
  }
  if (link < network_.nodes()) {  // from the node's own memory
    Packet left = moving.packet;
    left.kind = Packet::Kind::left;
    if (moving.packet.kind == Packet::Kind::eager)
      events_.push({end, Event::Kind::there, at, 0, left});
  } else {
    events_.push({end, Event::Kind::room, at, bytes, {}});
  }
  events_.push({end, Event::Kind::go_on, at, 0, {}});
}

// Those that wait for room are served in their order.
void CreditedLinks::give_room(uint32_t at, int64_t bytes) {
  lanes_[at].taken -= bytes;
  while (!lanes_[at].waiters.empty()) {
    const uint32_t waiter = lanes_[at].waiters.front();
    if (!has_room(lanes_[at], lanes_[waiter].queue.front().packet.size(word_))) return;
    lanes_[at].waiters.pop_front();
    lanes_[waiter].waits = false;
    go_on(waiter);
  }
}

}  // namespace haichi::sim
