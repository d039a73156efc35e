// The messages of a simulated run: from the step that sends to the receive that takes it.
//
// An eager message goes when it is sent. One by rendezvous asks its receiver, and goes once the
// receive is there. Which receive takes which message is said by matching.h, the ways between nodes
// by wires.h.
//
// PURE.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "placement/placement.h"
#include "sim/clockwork.h"
#include "sim/matching.h"
#include "sim/message_costs.h"
#include "sim/observer.h"
#include "sim/packet.h"
#include "sim/pairs_seen.h"
#include "sim/queue_search.h"
#include "sim/ranks.h"
#include "sim/timed_queue.h"
#include "sim/wires.h"

namespace haichi::sim {

/// What it is made of must outlive it. What fails says so as simulate() does.
class Messages {
 public:
  Messages(const placement::Placement& placement, const Machine& machine, Observer* observer,
           Clockwork& clock, Ranks& ranks, Wires& wires)
      : placement_(placement),
        costs_(placement, machine),
        send_(from_nanoseconds(machine.send_ns)),
        receive_(from_nanoseconds(machine.receive_ns)),
        match_(from_nanoseconds(machine.match_ns)),
        search_(from_nanoseconds(machine.search_ns)),
        words_on_wires_(machine.word_bytes > 0),
        words_with_latency_(int(machine.rendezvous_words)),
        observer_(observer),
        clock_(clock),
        ranks_(ranks),
        wires_(wires),
        matching_(placement.ranks()),
        pairs_(placement.ranks()) {
    if (search_ > 0) searched_.emplace(placement.ranks());
  }

  /// The rank's processor begins the send of its step: returns when the message can go.
  Time begin_send(int r);
  /// That work is done: the message of the rank's step goes.
  void send(int r);
  /// The rank posts a receive.
  Status post(int r, const plan::Step& step);
  /// All of a packet is on the node that it was for.
  Status arrive(const Packet& packet);
  /// The event of what needs no link: words, and messages inside nodes.
  Status take_word();
  Status take_local();

  /// Fails if peer or size are none.
  Status check(int r, int peer, int64_t bytes) const;
  const MessageCosts& costs() const { return costs_; }
  const Matching& matching() const { return matching_; }
  /// What was received so far.
  struct Received {
    int64_t messages = 0, bytes = 0;
    int64_t network_bytes = 0;  ///< of those from node to node
  };
  const Received& received() const { return received_; }

 private:
  // What both sides of a rendezvous must remember; those used up are chained by `send_round`.
  struct Rendezvous {
    int32_t send_round, receive_round;
  };
  static constexpr int32_t kEager = -1;

  void send_local(Packet packet);
  void answer(Packet packet, Packet::Kind kind, Time time);
  // Of looking through a rank's queue.
  Time search(int target, int source, Matching::Side side) {
    return searched_ ? search_ * searched_->offer(target, source, side) : 0;
  }
  void grant(Packet packet, int32_t receive_round);
  void complete(const Packet& packet, int32_t round, Time done);
  void count(const Packet& packet, Time done);
  int32_t remember(int32_t send_round);
  void forget(int32_t at);

  const placement::Placement& placement_;
  const MessageCosts costs_;
  const Time send_, receive_, match_;
  const Time search_;  // of each entry of a queue
  const bool words_on_wires_;
  const int words_with_latency_;
  Observer* const observer_;
  Clockwork& clock_;
  Ranks& ranks_;
  Wires& wires_;
  Fifo<Packet> local_;  // eager messages and requests inside nodes, by time
  TimedQueue<Packet> words_;
  std::vector<Rendezvous> rendezvous_;
  int32_t free_rendezvous_ = -1;
  Matching matching_;
  std::optional<QueueSearch> searched_;
  PairsSeen pairs_;
  Received received_;
};

}  // namespace haichi::sim
