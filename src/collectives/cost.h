// What messages cost, as far as the model of an exchange must know, and the sums that a prediction
// is made of.
//
// The base is the Hockney model L + M/B of paper 004, section 3.3, with what the paper names as
// missing there and in section 4.2: the work of a rank for each message, memory copies, ways of
// several links, and the crowd at a receiver.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "collectives/traffic.h"
#include "machine/machine.h"

namespace haichi::collectives {

/// Seconds, bytes, bytes/second. A ping-pong between two nodes gives `latency` (the paper's L) and
/// the smaller of `port` and `link` (its B0); messages to many at once give `send` and `receive`.
/// The defaults are those of the simulator (docs/guide/simulation.md says where each is from).
struct Costs {
  double latency = 1e-6;        ///< first byte, from node to node
  double hop = 1e-7;            ///< added for each link between places
  double local_latency = 2e-7;  ///< from rank to rank inside a node
  double send = 2e-7;           ///< a rank's work to issue a message
  double receive = 3e-7;        ///< to post a receive, to match and complete it
  double copy = 5e9;            ///< memory copy of one rank, bytes read or written once
  double eager_bytes = 12288;   ///< larger messages are sent by rendezvous
  double port = 3.4e9;          ///< a node's port, each way
  double link = 3.4e9;          ///< a link between places
  /// How many times longer a port takes while all ranks send to it at once, as "Simple Spread" does
  /// (paper 004, section 4.2, found it slower than its model). 1: the receiver does not mind.
  double incast = 1;
};

/// Those of a machine.
Costs costs_of(const machine::Machine& machine);

/// What the time of an exchange goes to. What is hidden behind something longer does not count.
enum class Term : uint8_t {
  latency,   ///< first bytes under way, one message waiting for another
  messages,  ///< ranks' work for each message
  copies,    ///< memory copies
  ports,     ///< bytes through nodes' ports
  links,     ///< bytes over links that others use too: the topology
  barriers,  ///< keeping the ranks in step
};
inline constexpr int kTerms = 6;
std::string_view name_of(Term term);

/// Seconds.
struct Terms {
  std::array<double, kTerms> seconds = {};
  double& operator[](Term term) { return seconds[size_t(term)]; }
  double operator[](Term term) const { return seconds[size_t(term)]; }
  double total() const;
};

/// What an algorithm's time is asked for: blocks of so many bytes, all equal.
struct Question {
  Traffic* traffic;
  const Costs* costs;
  int64_t block;

  int ranks() const { return traffic->placement().ranks(); }
  int nodes() const { return traffic->placement().nodes(); }
  int mates() const { return traffic->most_on_a_node(); }

  bool eager(double bytes) const { return bytes <= costs->eager_bytes; }
  double copy(double bytes) const { return bytes / costs->copy; }
  /// Work of a rank that sends one message and receives one. The word that asks for a rendezvous is
  /// a message too.
  double work(double bytes) const { return costs->send + (eager(bytes) ? 1 : 2) * costs->receive; }
  /// Of the same rank: eager messages are copied at both ends, those inside a node at one at least.
  double copies(double bytes, bool local) const {
    return copy(eager(bytes) ? 2 * bytes : local ? bytes : 0);
  }
  /// Latencies until both ends are done: a rendezvous asks, is granted, sends and is told.
  static constexpr int kRendezvousWays = 4;
  double way(double bytes, double hops) const {
    return (eager(bytes) ? 1 : kRendezvousWays) * (costs->latency + hops * costs->hop);
  }
  double local_way(double bytes) const {
    return (eager(bytes) ? 1 : kRendezvousWays) * costs->local_latency;
  }
  /// Seconds of `messages` of that size, one after the other.
  double on_port(double messages, double bytes) const { return messages * bytes / costs->port; }
  double on_link(double messages, double bytes) const { return messages * bytes / costs->link; }
};

}  // namespace haichi::collectives
