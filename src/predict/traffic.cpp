#include "predict/traffic.h"

#include <algorithm>

namespace haichi::predict {

using sim::Time;

Traffic::Traffic(const placement::Placement& placement, const sim::Network& network,
                 PathPool& paths, Listener& listener)
    : placement_(placement),
      network_(network),
      paths_(paths),
      listener_(listener),
      mailbox_(placement.ranks()),
      link_free_(network.links().size()),
      ports_(size_t(network.nodes()) * 2),
      port_events_(ports_.size()) {}

int32_t Traffic::send(Time now, const Sending& sending, const Envelope& envelope) {
  const int32_t at = new_message(now, sending);
  Message& message = messages_[size_t(at)];
  message.eager =
      sending.mode == Mode::buffered || (sending.mode == Mode::standard && sending.cost.eager);
  message.users = 1;
  int32_t request = -1;
  if (!message.eager) {
    message.users = 2;
    request = message.send_request = new_request(Request::Side::sends, at);
  }
  const int32_t receive = mailbox_.offer_message(sending.target, envelope, at);
  if (receive >= 0) bind(at, receive);
  if (messages_[size_t(at)].eager || receive >= 0) depart(now, at);
  return request;
}

int32_t Traffic::receive(Time now, int target, const Envelope& envelope, int32_t path) {
  const int32_t request = new_request(Request::Side::receives, -1);
  requests_[size_t(request)].at = now;  // until it is complete: when it was posted
  requests_[size_t(request)].path = path;
  const int32_t message = mailbox_.offer_receive(target, envelope, request);
  if (message < 0) return request;
  bind(message, request);
  Message& its = messages_[size_t(message)];
  if (!its.eager)
    depart(now, message);
  else if (its.there)
    complete(request, std::max(now, its.arrival));
  return request;
}

int32_t Traffic::put(Time now, const Sending& sending) {
  const int32_t at = new_message(now, sending);
  const int32_t request = new_request(Request::Side::sends, at);
  Message& message = messages_[size_t(at)];
  message.one_sided = true;
  message.users = 1;
  message.send_request = request;
  depart(now, at);
  return request;
}

int32_t Traffic::open_request() { return new_request(Request::Side::collective, -1); }

void Traffic::end_request(int32_t number, Time at, int32_t path) {
  requests_[size_t(number)].path = path;
  complete(number, at);
}

Time Traffic::next_time() {
  if (packets_.empty()) return port_events_.time();
  if (port_events_.empty()) return packets_.next().time;
  return std::min(packets_.next().time, port_events_.time());
}

void Traffic::move() {
  const bool packet_first =
      port_events_.empty() || (!packets_.empty() && packets_.next().time <= port_events_.time());
  if (packet_first) return move_packet();
  const int port = int(port_events_.actor());
  leave_port(port, port_events_.time());
}

void Traffic::move_packet() {
  const Packet packet = packets_.take();
  const Message& message = messages_[size_t(packet.message)];
  const int node = placement_.node_of(message.target);
  if (packet.link == network_.port_in(node))
    return enter(packet.link, packet.time, message.cost.in, packet.message);
  Time& free = link_free_[size_t(packet.link)];
  const Time begin = std::max(packet.time, free);
  const sim::Link& link = network_.links()[size_t(packet.link)];
  free = begin + sim::transfer_time(message.bytes, link.gbs);
  const int next = network_.next(packet.link, node);
  packets_.push({begin + link.latency, packet.message, next});
}

void Traffic::enter(int port, Time now, Time work, int32_t message) {
  ports_[size_t(port)].add(now, work, message);
  set_port_event(port);
}

void Traffic::set_port_event(int port) {
  const SharedPort& its = ports_[size_t(port)];
  if (its.empty())
    port_events_.remove(uint32_t(port));
  else
    port_events_.set(uint32_t(port), its.next_time());
}

// The last byte has crossed the port: it is there when it has crossed both, and its way is over.
void Traffic::leave_port(int port, Time now) {
  const int32_t number = ports_[size_t(port)].take(now);
  set_port_event(port);
  Message& message = messages_[size_t(number)];
  const bool out = port < network_.nodes();
  const Time there = out ? now + message.cost.way - message.cost.out : now;
  message.arrival = std::max(message.arrival, there);
  if (++message.ports == 2) arrive(number, message.arrival);
}

void Traffic::release(int32_t number) {
  Request& request = requests_[size_t(number)];
  if (!request.complete) {
    request.forgotten = true;
    return;
  }
  if (request.side == Request::Side::collective) paths_.forget(request.path);
  const int32_t message = request.message;
  request = {};
  free_requests_.push_back(number);
  if (message >= 0 && --messages_[size_t(message)].users == 0) drop(message);
}

int32_t Traffic::new_request(Request::Side side, int32_t message) {
  int32_t at = int32_t(requests_.size());
  if (free_requests_.empty()) {
    requests_.emplace_back();
  } else {
    at = free_requests_.back();
    free_requests_.pop_back();
  }
  requests_[size_t(at)].side = side;
  requests_[size_t(at)].message = message;
  return at;
}

int32_t Traffic::new_message(Time now, const Sending& sending) {
  int32_t at = int32_t(messages_.size());
  if (free_messages_.empty()) {
    messages_.emplace_back();
  } else {
    at = free_messages_.back();
    free_messages_.pop_back();
  }
  Message& message = messages_[size_t(at)];
  message = {};
  message.source = sending.source;
  message.target = sending.target;
  message.bytes = sending.bytes;
  message.sent = now;
  message.sender_path = sending.path;
  message.cost = sending.cost;
  message.way = sending.way;
  ++sent_;
  return at;
}

void Traffic::bind(int32_t number, int32_t receive) {
  Message& message = messages_[size_t(number)];
  Request& request = requests_[size_t(receive)];
  message.posted = request.at;
  message.receive_request = receive;
  message.receiver_path = request.path;
  request.path = -1;
  request.message = number;
  request.work = message.cost.receive;
}

void Traffic::depart(Time now, int32_t number) {
  const Message& message = messages_[size_t(number)];
  if (message.way != Way::network) return arrive(number, now + message.cost.way);
  const int from = placement_.node_of(message.source), to = placement_.node_of(message.target);
  const int out = network_.port_out(from);
  enter(out, now, message.cost.out, number);
  const Time first_byte = now + message.cost.way - message.cost.in;
  packets_.push({first_byte, number, network_.next(out, to)});
}

void Traffic::arrive(int32_t number, Time at) {
  Message& message = messages_[size_t(number)];
  message.there = true;
  message.arrival = at;
  const int32_t send = message.send_request, receive = message.receive_request;
  if (receive >= 0) complete(receive, at);
  if (send >= 0) complete(send, at);
}

void Traffic::complete(int32_t number, Time at) {
  Request& request = requests_[size_t(number)];
  request.complete = true;
  request.at = at;
  if (request.forgotten) return release(number);
  if (request.waiter >= 0) listener_.completed(number);
}

void Traffic::drop(int32_t number) {
  paths_.forget(messages_[size_t(number)].sender_path);
  paths_.forget(messages_[size_t(number)].receiver_path);
  free_messages_.push_back(number);
}

}  // namespace haichi::predict
