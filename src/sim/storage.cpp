#include "sim/storage.h"

#include <algorithm>

namespace haichi::sim {
namespace {

// What comes to a link or a server at `first`, its last byte at `tail`, has it for `work` and is
// through at the time returned. Others may go on while its last bytes are awaited.
Time occupy(Time& free, Time first, Time tail, Time work) {
  free = std::max(first, free) + work;
  return std::max(free, tail);
}

}  // namespace

Storage::Storage(const Machine& machine, int nodes, int ranks, StoragePorts shared)
    : latency_(from_nanoseconds(machine.latency_ns)),
      per_request_(from_nanoseconds(machine.request_us * 1000)),
      handover_(from_nanoseconds(machine.handover_us * 1000)),
      server_gbs_(machine.server_gbs),
      out_gbs_(machine.storage_gbs > 0 ? machine.storage_gbs : machine.out_gbs),
      in_gbs_(machine.storage_gbs > 0 ? machine.storage_gbs : machine.in_gbs),
      client_gbs_(machine.client_gbs),
      stripe_(std::max<int64_t>(1, int64_t(machine.stripe_bytes))),
      own_ports_(machine.storage_gbs > 0 ? size_t(nodes) * 2 : 0),
      ports_(shared),
      servers_(size_t(machine.servers)),
      clients_(size_t(ranks)) {
  if (own_ports_.empty()) return;
  const std::span<Time> own(own_ports_);
  ports_ = {own.first(size_t(nodes)), own.last(size_t(nodes))};
}

void Storage::start(const Transfer& transfer) {
  Client& client = clients_[size_t(transfer.rank)];
  client.transfers.push_back(transfer);
  if (client.transfers.size() == 1) make_requests(transfer);
}

void Storage::make_requests(const Transfer& transfer) {
  Client& client = clients_[size_t(transfer.rank)];
  if (transfer.bytes == 0) {
    client.requests = 1;
    events_.push({transfer.begin, Stage::complete, transfer.rank, 0, 0, 0});
    return;
  }
  const int64_t end = transfer.file_begin + transfer.bytes;
  for (int64_t at = transfer.file_begin; at < end;) {
    const int64_t stripe = at / stripe_, next = std::min(end, (stripe + 1) * stripe_);
    const auto server = int32_t(stripe % int64_t(servers_.size()));
    Event request{transfer.begin + latency_, Stage::at_server, transfer.rank, server, next - at,
                  transfer.begin + latency_};
    if (transfer.writes) {
      const Time first = std::max(transfer.begin, client.free);
      const Time tail = move_by(client, first, first, next - at);
      Time& port = ports_.out[size_t(transfer.node)];
      request.time = std::max(first, port) + latency_;
      request.tail = occupy(port, first, tail, transfer_time(next - at, out_gbs_)) + latency_;
    }
    events_.push(request);
    ++client.requests;
    at = next;
  }
}

// When the rank has moved the last of so many bytes, if they are there from `first` to `tail`.
Time Storage::move_by(Client& client, Time first, Time tail, int64_t bytes) const {
  if (client_gbs_ == 0) return tail;
  return occupy(client.free, first, tail, transfer_time(bytes, client_gbs_));
}

void Storage::serve(const Event& event) {
  const Transfer& transfer = clients_[size_t(event.rank)].transfers.front();
  Server& server = servers_[size_t(event.server)];
  const bool hands_over = server.last_node >= 0 && server.last_node != transfer.node &&
                          (server.last_wrote || transfer.writes);
  const Time begin =
      std::max(event.time, server.free) + per_request_ + (hands_over ? handover_ : 0);
  const Time done = occupy(server.free, begin, event.tail, transfer_time(event.bytes, server_gbs_));
  server.last_node = transfer.node;
  server.last_wrote = transfer.writes;
  Event next = event;
  next.tail = done + latency_;
  next.stage = transfer.writes ? Stage::complete : Stage::at_port;
  next.time = transfer.writes ? next.tail : begin + latency_;
  events_.push(next);
}

std::optional<Transfer> Storage::handle_event() {
  Event event = events_.take();
  Client& client = clients_[size_t(event.rank)];
  if (event.stage == Stage::at_server) {
    serve(event);
    return std::nullopt;
  }
  if (event.stage == Stage::at_port) {
    Time& port = ports_.in[size_t(client.transfers.front().node)];
    const Time first = event.time;
    const Time tail = occupy(port, first, event.tail, transfer_time(event.bytes, in_gbs_));
    event.time = move_by(client, first, tail, event.bytes);
    event.stage = Stage::complete;
    events_.push(event);
    return std::nullopt;
  }
  if (--client.requests > 0) return std::nullopt;
  const Transfer done = client.transfers.front();
  client.transfers.pop_front();
  if (!client.transfers.empty()) {
    Transfer& next = client.transfers.front();
    next.begin = std::max(next.begin, event.time);
    make_requests(next);
  }
  return done;
}

}  // namespace haichi::sim
