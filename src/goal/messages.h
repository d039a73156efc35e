// Collective calls as messages, by one simple algorithm each, for simulators that know only
// messages.
#pragma once

#include <cstdint>
#include <vector>

#include "record/record.h"
#include "replay/function.h"
#include "replay/shares.h"

namespace haichi::goal {

struct Message {
  bool sends;  ///< or receives
  int peer;    ///< rank of the communicator
  int64_t bytes;
};
/// What a rank does at the same time; the next round begins when it is over.
using Round = std::vector<Message>;

/// Of which rank of which communicator, and what. Bytes as the record has them
/// (docs/guide/formats.md).
struct Part {
  replay::Collective collective;
  int rank, ranks, root;
  int64_t bytes;
  const replay::Sums* sums;  ///< of calls with varying sizes
  const record::Communicator& comm;
};

/// The rounds of one rank:
///   barrier                    dissemination (Hensgen, Finkel and Manber 1988), of one byte
///   bcast, reduce              a binomial tree
///   allreduce                  reduce to rank 0, then bcast
///   gather(v), scatter(v)      each rank with the root
///   allgather(v)               ring
///   alltoall(v,w)              pairwise: in round k to rank + k, from rank - k
///   reduce_scatter(_block)     pairwise
///   scan, exscan               from rank - 1, then to rank + 1
///   neighbor_...               with all neighbours of the grid at once
std::vector<Round> rounds_of(const Part& part);

}  // namespace haichi::goal
