// What has to be known of a machine to say what an exchange costs there: what a message costs the
// ranks, the nodes' ports and the network. Few numbers, each with its unit in its name.
//
// Why not more: the simulator and the model of src/collectives answer questions of order, algorithm
// and placement (which node's port is the bottleneck, and for how long), and those hang on the
// ratio of these numbers.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/curve.h"

namespace haichi::machine {

/// The defaults are nodes and servers of TSUBAME2.5 as far as paper 000 (Table 1) tells of it;
/// where each number comes from, or that it is assumed, is in docs/guide/simulation.md. GB are 10^9
/// bytes.
struct Machine {
  // What a message costs the rank itself.
  double send_ns = 200;           ///< to issue a send
  double receive_ns = 100;        ///< to post a receive
  double match_ns = 200;          ///< to match a message that arrives, and to complete it
  double copy_gbs = 5;            ///< memory copy of one rank, bytes that are read or written once
  double eager_bytes = 12288;     ///< larger messages are sent by rendezvous
  double local_latency_ns = 200;  ///< from rank to rank inside a node
  double search_ns = 0;           ///< for each entry of a queue that is looked at to match; 0: none
  // Rendezvous between nodes: the words that ask, grant and end it.
  double rendezvous_words = 3;  ///< the first so many take the latency
  double word_bytes = 0;        ///< of a word on its way; 0: none, and it waits behind no bytes
  // What it costs the network.
  double out_gbs = 3.4;      ///< a node's port towards the network
  double in_gbs = 3.4;       ///< a node's port from the network
  double latency_ns = 1000;  ///< first byte, from port to port
  double link_gbs = 3.4;     ///< a link between switches, or between neighbours
  double hop_ns = 100;       ///< first byte over such a link, added to latency_ns
  double buffer_bytes = 0;   ///< before each link, see sim/credited_links.h; 0: without a bound
  // What storage costs; see sim/storage.h.
  double servers = 64;            ///< that each file is striped over; 0: no storage
  double stripe_bytes = 1 << 20;  ///< of a file on one server before the next one's turn
  double server_gbs = 0.25;       ///< what one server reads or writes
  double request_us = 100;        ///< of a server, for each request beside its bytes
  double handover_us = 0;         ///< of a server, to turn to another node if one of them writes
  double storage_gbs = 3.4;       ///< a node's port for files, each way; 0: that of the messages
  double client_gbs = 0;          ///< what one rank reads or writes at most; 0: no such limit
  /// "crossbar", "fattree:NODES:TAPER", "torus:AxBx..." or "mesh:AxBx..."; see topology/shape.h.
  std::string network = "crossbar";
  /// The place of each node in that network: a job may have any part of it. Empty: node n has place
  /// n.
  std::vector<int> seats = {};
  /// Names of the numbers that were set by name, each once: the others have their defaults, which
  /// are another machine's.
  std::vector<std::string_view> told = {};
  /// Of messages, measured: where there is one, it counts in place of latency and copies above.
  std::vector<Curve> curves = {};

  bool tells(std::string_view name) const {
    return std::find(told.begin(), told.end(), name) != told.end();
  }
};

/// One number of a Machine: its name in files and on the command line is the member's.
struct MachineField {
  std::string_view name;
  double Machine::* member;
  bool positive;  ///< 0 is not allowed
  std::string_view help;
  bool whole = false;  ///< fractions are not allowed
};

/// The table of all numbers, in the order above.
std::span<const MachineField> machine_fields();

/// Sets one number by its name, and notes that. Fails with EINVAL on an unknown name or a value out
/// of range, and changes nothing then. The largest value is 10^9: what is meant are nanoseconds and
/// GB/s.
Status set_field(Machine& machine, std::string_view name, double value);

}  // namespace haichi::machine
