// One stream per node and aggregator: what the ranks of a node have for an aggregator of another
// node lies rank after rank in memory that they have in common, and travels as one message. (The
// gather of paper 002, section 2.1, with shared memory where that has a dispatcher; TAM, Kang et
// al. 2020, has leaders that the other ranks send to.)
//
// PURE: no MPI, no clock, no environment. What the ranks of a node tell each other in that memory
// is part of the request; they meet (Step::node_meet) between writing and reading it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpiio/two_phase_plan.h"
#include "placement/placement.h"

namespace haichi::mpiio {

/// The streams of one call as one rank sees them. See "Streams of a node" in docs/notes.md.
///
/// A node's memory for them has a table, of how many bytes each of its ranks has for each
/// aggregator in four cycles in a row, and three areas, for three cycles in a row, with a slot for
/// each aggregator on another node. All ranks of the file have the same answers for the same node.
class NodeStreams {
 public:
  /// Bytes of memory that the ranks of `node` need in common; 0 if they have no streams.
  static int64_t memory_of(const placement::Placement& placement, const TwoPhasePlan& plan,
                           int node);

  /// `memory` is that of the rank's node, aligned for integers; null if memory_of() is 0. Both
  /// arguments must outlive the object.
  NodeStreams(const placement::Placement& placement, const TwoPhasePlan& plan, int rank,
              std::byte* memory);

  /// True if the ranks of `node` have streams.
  bool from(int node) const { return most(node) > 0; }
  /// Most bytes of one stream of `node` in a cycle: where its ranks have more for an aggregator,
  /// each of them sends its own.
  int64_t most(int node) const { return most_[size_t(node)]; }
  /// The rank of `node` that has its stream from or to an aggregator (index).
  int speaker(int node, int aggregator) const;

  /// What this rank has for an aggregator (index) on another node in a cycle, in bytes, for the
  /// other ranks of its node.
  void publish(int64_t cycle, int aggregator, int64_t bytes);

  /// A stream of this rank's node.
  struct Stream {
    int64_t bytes = 0;   ///< of all ranks of the node
    int64_t before = 0;  ///< of those before this rank
    int64_t slot = 0;    ///< where it lies, relative to areas()
  };
  /// As published; the ranks of the node have met since.
  Stream stream(int64_t cycle, int aggregator) const;

  /// Null if this rank's node has no streams.
  std::byte* areas() const { return areas_; }

 private:
  int32_t* row(int64_t cycle, int aggregator) const;

  const placement::Placement& placement_;
  const TwoPhasePlan& plan_;
  const int rank_;
  const int node_;
  std::vector<int64_t> most_;  // by node
  std::vector<int> slots_;     // by aggregator: which slot of an area
  int slots_used_ = 0;
  int32_t* table_ = nullptr;
  std::byte* areas_ = nullptr;
};

}  // namespace haichi::mpiio
