// Networks of a simulated machine: which links a message crosses.
//
// Every link is a FIFO server: a message occupies it for bytes / bandwidth and goes on to the next
// link when its first byte has crossed (cut-through). Buffers before a link are not bounded, so a
// message never blocks others behind it. Links 0..nodes-1 are the nodes' ports out, the next
// `nodes` their ports in, and after them come those between.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

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
  /// The link after `link` on the way to `node`; -1 if `link` is that node's port in.
  int next(int link, int node) const { return link == port_in(node) ? -1 : route(link, node); }

 protected:
  Network(const Machine& machine, int nodes);
  virtual int route(int link, int node) const = 0;

  int nodes_;
  std::vector<Link> links_;
};

/// The network that `machine.network` names (topology/shape.h says what there is, and how it
/// routes), with a node on each of `machine.seats`. Fails with EINVAL if the text is no network,
/// the box too small, or the seats not one different place for each node.
Result<std::unique_ptr<Network>> make_network(const Machine& machine, int nodes);

}  // namespace haichi::sim
