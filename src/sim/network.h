// Networks of a simulated machine: which links a message crosses.
//
// Links 0..nodes-1 are the nodes' ports out, the next `nodes` their ports in, and after them come
// those between. What a link does with a packet is in wires.h.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/time.h"

namespace haichi::sim {

struct Link {
  double gbs;    ///< bandwidth, 10^9 bytes/s
  Time latency;  ///< of the first byte, to the next link
};

class Network {
 public:
  virtual ~Network() = default;
  int nodes() const { return nodes_; }
  const std::vector<Link>& links() const { return links_; }
  int port_out(int node) const { return node; }
  int port_in(int node) const { return nodes_ + node; }
  /// The link after `link` on the way to `node`; -1 if `link` is that node's port in. `way` is one
  /// that choose() gave, or 0, the network's own.
  int next(int link, int node, uint16_t way = 0) const {
    return link == port_in(node) ? -1 : route(link, node, way);
  }

  /// How long a link needs for what is under way over it.
  class Congestion {
   public:
    virtual Time before(int link) const = 0;

   protected:
    ~Congestion() = default;
  };
  /// Whether ways are chosen by how full they are.
  virtual bool adapts() const { return false; }
  /// The way for a packet between two different nodes. `draw` is a number that looks random.
  virtual uint16_t choose(int from, int to, const Congestion& congestion, uint64_t draw) const {
    (void)from, (void)to, (void)congestion, (void)draw;
    return 0;
  }

  /// Lanes of each link where buffers are finite (credited_links.h), and which a packet takes on
  /// the link `to`, which it enters from `lane` of the link `from`: such that no lanes wait for
  /// each other in a circle.
  virtual int lanes() const { return 1; }
  virtual int lane(int lane, int from, int to) const {
    (void)lane, (void)from, (void)to;
    return 0;
  }

 protected:
  Network(const Machine& machine, int nodes);
  virtual int route(int link, int node, uint16_t way) const = 0;

  int nodes_;
  std::vector<Link> links_;
};

/// The network that `machine.network` names (topology/shape.h says what there is, and how it
/// routes), with a node on each of `machine.seats`. Fails with EINVAL if the text is no network,
/// the box too small, or the seats not one different place for each node.
Result<std::unique_ptr<Network>> make_network(const Machine& machine, int nodes);

}  // namespace haichi::sim
