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

#include "sim/machine.h"

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

/// The network that `machine.network` names, for so many nodes:
///   crossbar            nothing between a port out and a port in
///   fattree:N:T         two levels: N nodes a switch, N/T links up from each (T is the taper, at
///                       least 1); to node d always by link d modulo their number, as static
///                       routing does
///   torus:AxBx...       a link each way between neighbours, node numbers count the last dimension
///   mesh:AxBx...        first; routes correct the first dimension first, in a torus the shorter
///                       way round (up, if both are equal). The box may be larger than the job.
/// Fails with EINVAL if the text is none of these or the box too small.
Result<std::unique_ptr<Network>> make_network(const Machine& machine, int nodes);

}  // namespace haichi::sim
