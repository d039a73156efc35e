// What waits before the links of the simulated network and travels over them.
//
// PURE.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ranges>

#include "sim/fifo.h"
#include "sim/time.h"

namespace haichi::sim {

/// A message, or a word of the rendezvous protocol, on its way.
struct Packet {
  enum class Kind : uint8_t {
    eager,    ///< the bytes
    request,  ///< rendezvous: I would send
    grant,    ///< rendezvous, back: the receive is posted, the network may fetch the bytes
    data,     ///< rendezvous: the bytes
    done,     ///< rendezvous, back: the bytes are there, the send is complete
    left,     ///< no packet: the last byte of an eager one has left its node
  };
  Time time;  ///< when it gets to where it goes next
  int64_t bytes;
  int32_t source, target;  ///< of the message: a grant travels from target to source
  int32_t rendezvous;      ///< index of the record, or -1
  Kind kind;
  bool first = false;  ///< surely nothing of this pair was sent before it
  uint16_t way = 0;    ///< which of the network's ways it goes (sim/network.h)

  bool goes_back() const { return kind == Kind::grant || kind == Kind::done; }
  /// Bytes that it has on its way, where a word has so many.
  int64_t size(int64_t word) const {
    return kind == Kind::eager || kind == Kind::data ? bytes : word;
  }
  /// The ranks that it travels from and to.
  int from() const { return goes_back() ? target : source; }
  int to() const { return goes_back() ? source : target; }
};

/// Puts a packet into a queue that is ordered by time. What has less to wait for than those before
/// it gets ahead of them: a request, which has no bytes to speak of, on a link; a small message
/// inside a node. But messages match in their order: it overtakes none of its own two ranks; its
/// time is set to theirs if it would.
///
/// Where many ranks ask at once the queue is long, so it is looked through only if something of the
/// pair may be in it.
inline void insert_in_order(Fifo<Packet>& queue, Packet packet) {
  const auto places = std::views::iota(size_t{0}, queue.size());
  const auto not_later = [&](size_t at) { return queue[at].time <= packet.time; };
  const size_t in_time = size_t(std::ranges::partition_point(places, not_later) - places.begin());
  size_t at = packet.first ? in_time : queue.size();
  for (; at != in_time; --at)
    if (queue[at - 1].source == packet.source && queue[at - 1].target == packet.target) {
      packet.time = queue[at - 1].time;
      break;
    }
  queue.insert(at, packet);
}

}  // namespace haichi::sim
