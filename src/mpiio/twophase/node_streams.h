// One stream per node and aggregator: what the ranks of a node have for an aggregator of another
// node lies rank after rank in memory that they have in common, and travels as one message. (The
// gather of paper 002, section 2.1, with shared memory where that has a dispatcher; TAM, Kang et
// al. 2020, has leaders that the other ranks send to.)
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"
#include "plan/node_table.h"

namespace haichi::mpiio {

/// Where the streams of one call are in the memory of each node, and who speaks for it. See
/// "Streams of a node" in docs/notes.md.
///
/// A node's memory for them has a table, of how many bytes each of its ranks has for each
/// aggregator, and areas with a slot for each aggregator on another node, both for kCycles cycles
/// in a row.
class NodeStreams {
 public:
  static constexpr int64_t kCycles = 3;

  /// Both arguments must outlive the object.
  NodeStreams(const placement::Placement& placement, const TwoPhasePlan& plan);

  /// True if the ranks of `node` have streams.
  bool from(int node) const { return most(node) > 0; }
  /// Most bytes of one stream of `node` in a cycle: where its ranks have more for an aggregator,
  /// each of them sends its own.
  int64_t most(int node) const { return most_[size_t(node)]; }
  /// The rank of `node` that has its stream from or to an aggregator (index).
  int speaker(int node, int aggregator) const;

  /// The cell of the node's table for what its ranks have for an aggregator (index) in a cycle.
  int64_t cell(int64_t cycle, int aggregator) const {
    return cycle % kCycles * aggregators() + aggregator;
  }
  /// Where the stream of `node` to or from an aggregator on another node lies, relative to areas().
  int64_t slot(int node, int64_t cycle, int aggregator) const;

  /// Bytes of memory that the ranks of `node` need in common; 0 if they have no streams.
  int64_t memory_of(int node) const;
  /// The parts of that memory, which is aligned for integers.
  plan::NodeTable table(int node, std::byte* memory) const;
  std::byte* areas(int node, std::byte* memory) const;

 private:
  int64_t aggregators() const { return int64_t(plan_.aggregators.ranks.size()); }
  int64_t members(int node) const { return int64_t(placement_.ranks_on(node).size()); }
  std::span<const int> aggregators_on(int node) const {
    return std::span(by_node_).subspan(begins_[size_t(node)],
                                       begins_[size_t(node) + 1] - begins_[size_t(node)]);
  }
  int64_t elsewhere(int node) const { return aggregators() - int64_t(aggregators_on(node).size()); }
  int64_t table_bytes(int node) const;

  const placement::Placement& placement_;
  const TwoPhasePlan& plan_;
  std::vector<int> by_node_;    // the aggregators, those of each node together and ascending
  std::vector<size_t> begins_;  // of a node's there, and the end of the last
  std::vector<int64_t> most_;   // by node
};

}  // namespace haichi::mpiio
