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
#include <optional>
#include <string_view>

#include "collectives/traffic.h"
#include "machine/local_message.h"
#include "machine/machine.h"

namespace haichi::collectives {

/// Seconds, bytes, bytes/second. A ping-pong between two nodes gives `latency` (the paper's L) and
/// the smaller of `port` and `link` (its B0); messages to many at once give `send` and `receive`.
struct Costs {
  /// Those of the machine that is assumed where nothing is known.
  Costs() : Costs(machine::Machine{}) {}
  explicit Costs(const machine::Machine& machine);

  double latency;        ///< first byte, from node to node
  double hop;            ///< added for each link between places
  double local_latency;  ///< from rank to rank inside a node
  double send;           ///< a rank's work to issue a message
  double receive;        ///< to post a receive, to match and complete it
  double copy;           ///< memory copy of one rank, bytes read or written once
  double eager_bytes;    ///< larger messages are sent by rendezvous
  double port;           ///< a node's port, each way
  double link;           ///< a link between places
  /// What a message inside a node takes, in place of `local_latency` and copies, where it was
  /// measured.
  std::optional<machine::Curve> local = {};
  /// How many times longer a port takes while all ranks send to it at once, as "Simple Spread" does
  /// (paper 004, section 4.2, found it slower than its model). 1: the receiver does not mind.
  double incast = 1;
};

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
    if (local && costs->local) return by_curve(bytes).copies;
    return copy(eager(bytes) ? 2 * bytes : local ? bytes : 0);
  }
  /// Latencies until both ends are done: a rendezvous asks, is granted, sends and is told.
  static constexpr int kRendezvousWays = 4;
  double way(double bytes, double hops) const {
    return (eager(bytes) ? 1 : kRendezvousWays) * (costs->latency + hops * costs->hop);
  }
  double local_way(double bytes) const {
    if (costs->local) return by_curve(bytes).latency;
    return (eager(bytes) ? 1 : kRendezvousWays) * costs->local_latency;
  }
  /// Seconds of `messages` of that size, one after the other.
  double on_port(double messages, double bytes) const { return messages * bytes / costs->port; }
  double on_link(double messages, double bytes) const { return messages * bytes / costs->link; }

 private:
  machine::LocalMessage by_curve(double bytes) const {
    return machine::local_message(*costs->local, bytes, costs->send + costs->receive);
  }
};

}  // namespace haichi::collectives
