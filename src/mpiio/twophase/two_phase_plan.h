// What is wanted of a collective access in two phases, and what the ranks decide of it.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "mpiio/regions/access.h"
#include "plan/aggregators.h"
#include "plan/file_domains.h"
#include "plan/issue_order.h"
#include "plan/node_share.h"

namespace haichi::mpiio {

enum class Direction { read, write };

/// What a user says of something that haichi decides by its cost.
enum class Choice { automatic, on, off };

/// Most bytes of a collective buffer that nobody asked for.
inline constexpr int64_t kMostBuffer = 16 << 20;

/// What the user and the file system ask for (mpiio/ways/options.h); equal on all ranks of the
/// file.
struct TwoPhaseOptions {
  plan::Layout layout = plan::Layout::roundrobin;
  plan::IssueOrder order = plan::IssueOrder::nd_rank_shift;
  int aggregators = 0;           ///< 0: one per node, or all that per_node allows
  int per_node = 0;              ///< most aggregators on a node; 0: no limit
  int max_outstanding = 32;      ///< most sends of a rank at a time; 0: no limit
  int64_t buffer = kMostBuffer;  ///< bytes of one aggregator's collective buffer: its windows
  int64_t stripe_unit = 0;       ///< bytes; 0: not striped
  bool may_shrink = true;        ///< windows may be smaller than that, to overlap more cycles
  bool may_go_direct = true;     ///< ranks may access the file themselves where that is cheaper
  bool may_share = true;         ///< ranks of a node may use common memory
  Choice file_thread = Choice::automatic;   ///< a thread beside the exchange accesses the file
  Choice node_streams = Choice::automatic;  ///< one message per node and aggregator
  /// Most bytes of memory for these, for each rank of a node: as many as each may have packed in
  /// messages of its own (src/mpi/requests/executor.cpp).
  int64_t stream_memory = 1 << 20;
  bool keep_local = true;  ///< file domains may go where their bytes are
  /// What a byte costs, as earlier accesses have shown (mpiio/twophase/measured_costs.h): decides
  /// how much a node may handle. Else the machine tells, if it is known.
  std::optional<plan::ByteCosts> costs = {};
  bool knows_parts = true;  ///< each rank knows where the bytes of all are, if there are holes
  bool balanced = false;    ///< a node may handle as much as usual, whatever bytes cost
  int stripes = 0;          ///< servers that the file is striped over; 0: not known
  /// What storage and network can take, where that is known: decides the number of aggregators
  /// unless it was asked for. Outlives the options.
  const machine::Machine* machine = nullptr;
  /// The aggregators, where that has been decided before: by these options, with a buffer that may
  /// have been larger.
  const plan::Aggregators* chosen = nullptr;
};

/// What all ranks want of a file together.
struct Demand {
  plan::Extent hull;   ///< of all bytes; empty: no rank has any
  int64_t spans = 0;   ///< the sizes of the ranks' own hulls, added up
  int64_t bytes = 0;   ///< of all ranks
  int64_t most = 0;    ///< of one rank
  int64_t blocks = 0;  ///< contiguous pieces of the file
  /// A hole of this size or more ends a part: hole_of() (mpiio/twophase/cut.h). Parts of the ranks'
  /// own bytes between such holes, and the bytes of the file in them, which sieving would read:
  /// added up; 0: not known.
  int64_t hole = 0, parts = 0, occupied = 0;
  int ranks = 0;          ///< that have bytes
  bool all_open = false;  ///< every rank with bytes can access the file itself
  /// The ranks' parts lie beside each other, as far as their hulls tell.
  bool apart() const { return spans <= hull.size(); }
  /// How far the ranks' hulls are from beginning and ending together, in the mean.
  int64_t offset() const { return hull.size() - spans / std::max(1, ranks); }
  /// The ranks' parts lie in the same places, with no holes among them that end a part, as far as
  /// their hulls tell.
  bool alike() const { return ranks > 1 && offset() <= std::min(2 * kNearly, (ranks - 1) * hole); }
  /// The ranks' parts lie between each other's, so close that no hole is left in the mean.
  bool interlocked() const {
    return !alike() && parts > 1 && spans / 2 >= hull.size() &&
           (hull.size() - occupied) / (parts - 1) < hole;
  }
  /// Parts and bytes of the file in them, of all ranks together: about.
  int64_t parts_together() const {
    return interlocked() ? 1 : alike() ? (parts + ranks - 1) / ranks : parts;
  }
  int64_t occupied_together() const {
    if (interlocked()) return hull.size();
    const double least =
        alike() ? (double(occupied) + double(parts) * double(offset())) / ranks : double(occupied);
    return least >= double(hull.size()) ? hull.size() : std::max(bytes, int64_t(least));
  }

 private:
  static constexpr int64_t kNearly = 16 << 10;
};

/// What one rank wants of a collective access.
struct RankDemand {
  plan::Extent hull;  ///< of the file; empty: it has no bytes
  int64_t bytes = 0;
  int64_t blocks = 0;              ///< contiguous pieces of the file
  const Access* access = nullptr;  ///< if known on all ranks; else its bytes count as spread evenly
  /// Ascending, and all bytes are in them, if it is not known and its rank has told them.
  const std::vector<plan::Extent>* parts = nullptr;
};

/// That of a rank whose access, which must live on, all ranks know.
inline RankDemand demand_of(const Access& access) {
  return {access.hull(), access.end() - access.begin(), access.blocks(), &access};
}

/// What all ranks decide alike before a collective access, and why.
struct TwoPhasePlan {
  Direction direction = Direction::write;
  plan::Aggregators aggregators;
  plan::FileDomains domains{{}, 1, 1, 0, 0};
  int64_t cb_slot_bytes = 0;  ///< most that one cycle of an aggregator handles
  int cb_slots = 2;           ///< windows that its buffer holds: cycle c uses number c % cb_slots
  plan::IssueOrder order = plan::IssueOrder::rank;
  int max_outstanding = 0;  ///< sends of a rank at a time; 0: any number
  bool shares =
      false;  ///< ranks of a node put their bytes into its aggregators' windows themselves
  bool file_thread = false;  ///< aggregators read and write by a thread beside the exchange
  /// Bytes that each rank of a node has in the mean, at most, where the node sends an aggregator
  /// one message for all of them (NodeStreams); 0: every rank sends its own.
  int64_t stream_part = 0;
  int64_t stream_memory = 0;  ///< most bytes of memory for that, for each rank of a node
  int64_t min_internode_bytes =
      -1;                     ///< bytes that cross the network with any domains; -1: not known
  int64_t busiest_link = -1;  ///< bytes that it carries with these, about; -1: not known
  int64_t busiest_aggregator = -1;  ///< the same of the aggregator that handles most
  int64_t message = 0;  ///< bytes that a rank has for an aggregator in a cycle, in the mean
  std::vector<std::string> why;
};

}  // namespace haichi::mpiio
