// The messages of a predicted program on their way: which requests they complete, and when.
//
// An eager message goes when it is sent, one by rendezvous when its receive is there too. Between
// nodes it crosses the port out and the port in, which those that cross them at once share, and the
// links between, FIFO servers (sim/network.h).
//
// PURE.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/calls.h"
#include "predict/costs.h"
#include "predict/mailbox.h"
#include "predict/path.h"
#include "predict/shared_port.h"
#include "sim/event_queue.h"
#include "sim/network.h"
#include "sim/timed_queue.h"

namespace haichi::predict {

/// What a strand waits for.
struct Request {
  enum class Side : uint8_t { none, sends, receives, collective };
  Side side = Side::none;
  bool complete = false;
  bool forgotten = false;  ///< nobody will wait for it
  sim::Time at = 0;        ///< when, once it is
  sim::Time work = 0;      ///< of the processor that waited, after that
  int32_t waiter = -1;     ///< strand
  int32_t message = -1;
  int32_t path = -1;  ///< of a collective: the path that led to its end
};

struct Message {
  int32_t source = 0, target = 0;
  int64_t bytes = 0;
  sim::Time sent = 0, posted = 0;  ///< by sender and receiver
  int32_t sender_path = -1, receiver_path = -1;
  int32_t send_request = -1, receive_request = -1;
  MessageCost cost;
  Way way = Way::node;
  bool eager = true, one_sided = false, there = false;
  int8_t ports = 0;  ///< that it is through
  sim::Time arrival = 0;
  int8_t users = 0;  ///< requests that still need it

  /// Whether its sender determined when it began to move, and not its receiver.
  bool by_sender() const { return eager || one_sided || sent >= posted; }
  sim::Time began() const { return by_sender() ? sent : posted; }
};

class Traffic {
 public:
  /// Is told of requests that complete and have a waiter.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void completed(int32_t request) = 0;
  };

  Traffic(const placement::Placement& placement, const sim::Network& network, PathPool& paths,
          Listener& listener);

  /// What a rank sends. `path` is kept until the message is received.
  struct Sending {
    int source, target;
    int64_t bytes;
    Mode mode;
    MessageCost cost;
    Way way;
    int32_t path;
  };
  /// Returns the request, or -1 if it is complete at once.
  int32_t send(sim::Time now, const Sending& sending, const Envelope& envelope);
  int32_t receive(sim::Time now, int target, const Envelope& envelope, int32_t path);
  /// One-sided: complete when the bytes are there.
  int32_t put(sim::Time now, const Sending& sending);
  /// Of a call whose end somebody else tells.
  int32_t open_request();
  void end_request(int32_t number, sim::Time at, int32_t path);

  /// Whether messages are on their way between nodes, and when something happens to one next.
  bool moves() const { return !packets_.empty() || !port_events_.empty(); }
  sim::Time next_time();
  void move();

  Request& request(int32_t number) { return requests_[size_t(number)]; }
  const Message& message(int32_t number) const { return messages_[size_t(number)]; }
  /// Nobody needs the request any more.
  void release(int32_t number);
  int64_t messages() const { return sent_; }
  const Mailbox& mailbox() const { return mailbox_; }

 private:
  struct Packet {  // its first byte gets to a link or the port in
    sim::Time time;
    int32_t message;
    int32_t link;
  };

  int32_t new_request(Request::Side side, int32_t message);
  int32_t new_message(sim::Time now, const Sending& sending);
  void bind(int32_t message, int32_t request);
  void depart(sim::Time now, int32_t message);
  void enter(int port, sim::Time now, sim::Time work, int32_t message);
  void move_packet();
  void leave_port(int port, sim::Time now);
  void set_port_event(int port);
  void arrive(int32_t message, sim::Time at);
  void complete(int32_t request, sim::Time at);
  void drop(int32_t message);

  const placement::Placement& placement_;
  const sim::Network& network_;
  PathPool& paths_;
  Listener& listener_;
  Mailbox mailbox_;
  std::vector<Request> requests_;
  std::vector<int32_t> free_requests_;
  std::vector<Message> messages_;
  std::vector<int32_t> free_messages_;
  std::vector<sim::Time> link_free_;  // of links between ports
  std::vector<SharedPort> ports_;     // as the network numbers them
  sim::EventQueue port_events_;       // when each is through with a message
  sim::TimedQueue<Packet> packets_;
  int64_t sent_ = 0;
};

}  // namespace haichi::predict
