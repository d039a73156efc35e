// The storage of a simulated machine: servers that files are striped over, and the way to them.
//
// A transfer is cut at the stripes. Each piece is a request to one server: stripe s is on server
// s modulo their number. The requests of a transfer are made at once and go one after the other
// through the node's port; each server takes one after the other as they arrive (FIFO). A rank
// moves the bytes of its transfers one after the other, at client_gbs at most.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "sim/time.h"
#include "sim/timed_queue.h"

namespace haichi::sim {

/// Bytes that a rank reads from the file or writes to it.
struct Transfer {
  int rank, node;
  int64_t round;
  bool writes;
  int64_t file_begin, bytes;
  Time begin;  ///< when the rank asks for it; when it began, once it is complete
};

/// When each port of the nodes is free again, by node: towards the servers, and from them.
struct StoragePorts {
  std::span<Time> out, in;
};

class Storage {
 public:
  /// `shared` are the ports that messages use, for machines whose storage has none of its own
  /// (storage_gbs 0). They must outlive the object.
  Storage(const Machine& machine, int nodes, int ranks, StoragePorts shared);

  /// The rank's transfers are done one after the other, in the order of these calls.
  void start(const Transfer& transfer);
  /// True if the rank has no transfer under way.
  bool idle(int rank) const { return clients_[size_t(rank)].transfers.empty(); }

  bool has_event() const { return !events_.empty(); }
  Time next_time() const { return events_.next().time; }
  /// Handles the event at next_time(): returns the transfer that is complete by it, if one is.
  std::optional<Transfer> handle_event();

 private:
  enum class Stage : uint8_t {
    at_server,  // the request, with the first byte that is written
    at_port,    // the first byte that was read
    complete,   // the answer, or the last byte that was read
  };
  struct Event {
    Time time;
    Stage stage;
    int32_t rank, server;
    int64_t bytes;
    Time tail;  // when the last byte is where the first one is now
  };
  struct Client {
    std::deque<Transfer> transfers;  // the first one is under way
    int64_t requests = 0;            // of it, not complete
    Time free = 0;                   // when the rank can move the next byte
  };
  struct Server {
    Time free = 0;
    int last_node = -1;
    bool last_wrote = false;
  };

  void make_requests(const Transfer& transfer);
  Time move_by(Client& client, Time first, Time tail, int64_t bytes) const;
  void serve(const Event& event);

  const Time latency_, per_request_, handover_;
  const double server_gbs_, out_gbs_, in_gbs_, client_gbs_;
  const int64_t stripe_;
  std::vector<Time> own_ports_;
  StoragePorts ports_;
  std::vector<Server> servers_;
  std::vector<Client> clients_;  // by rank
  TimedQueue<Event> events_;
};

}  // namespace haichi::sim
