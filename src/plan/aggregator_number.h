// How many aggregators the storage and the network of a machine can keep busy: paper 000 (section
// 4.2, Fig. 10) has its best between 1 and 12 a node, ROMIO's default is one.
//
// The rates that matter, in bytes/second:
//   one      what one aggregator accesses, one window after the other: the time of a window is that
//            of its requests at the servers, or of its bytes at what one process can move
//            (client_gbs) or at its node's port
//   node     what passes through a node: bytes of other nodes' ranks come in from the network and
//   go
//            on to the servers
//   storage  what all servers of the file take, requests and all
// Aggregators are worth having until one of the last two is used up.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "machine/machine.h"
#include "placement/placement.h"

namespace haichi::plan {

/// What is known of the accesses of a file.
struct FileShape {
  int64_t window = 0;       ///< most bytes of one access of an aggregator
  int64_t stripe_unit = 0;  ///< bytes; 0: not known, then the machine's
  int stripes = 0;          ///< servers of the file; 0: not known, then all of the machine
};

/// Bytes/second, as above.
struct AccessRates {
  double one = 0, storage = 0;
};

/// Nothing if the machine was not told of all that decides: in_gbs, out_gbs, storage_gbs, servers
/// and server_gbs, of which there is at least one.
std::optional<AccessRates> access_rates(const machine::Machine& machine, const FileShape& file);

struct NumberOfAggregators {
  int total = 0;     ///< at most the number of ranks
  int per_node = 0;  ///< most on one node
  std::string why;
};

/// Nothing if access_rates() says nothing. For a file whose stripes are known, `total` is a
/// multiple or a divisor of them, so that each server is used by the same number of aggregators (as
/// choose_aggregators has it). Never below the number that choose_aggregators has by default.
std::optional<NumberOfAggregators> number_by_rates(const machine::Machine& machine,
                                                   const placement::Placement& placement,
                                                   const FileShape& file);

}  // namespace haichi::plan
