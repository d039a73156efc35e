// What a round of messages takes: those that all ranks send at once, each rank to others so many
// places up, before they wait for all of them.
//
// PURE.
#pragma once

#include <algorithm>

#include "collectives/cost.h"

namespace haichi::collectives {

/// The messages of a round, and their terms.
class Round {
 public:
  explicit Round(const Question& question) : q_(question) {}

  /// Every rank sends `bytes` to the one `distance` places up. Messages that go different distances
  /// share a port, and only those of one distance the links.
  void message(int distance, double bytes, Terms& terms) {
    const Load& load = q_.traffic->shift(distance);
    const bool local = load.ports == 0;
    terms[Term::messages] += q_.work(bytes);
    terms[Term::copies] += q_.copies(bytes, local);
    way_ = std::max(way_, local ? q_.local_way(bytes) : q_.way(bytes, load.hops));
    port_ += q_.on_port(load.ports, bytes);
    link_ += q_.on_link(load.links, bytes);
  }

  /// All of them have arrived.
  void end(Terms& terms) const {
    terms[Term::latency] += way_;
    terms[Term::ports] += port_;
    terms[Term::links] += std::max(0.0, link_ - port_);
  }

 private:
  const Question& q_;
  double way_ = 0, port_ = 0, link_ = 0;  // seconds
};

}  // namespace haichi::collectives
