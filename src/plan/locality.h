// Which node handles which part of the file: where most of the part's bytes are, so that they need
// not cross the network.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/file_domains.h"

namespace haichi::plan {

/// A range of the file cut into parts, and how many bytes of each part the ranks of each node have.
struct NodeBytes {
  std::vector<Extent> parts;                ///< ascending and disjoint
  std::vector<std::vector<int64_t>> bytes;  ///< [part][node]
};

/// Bytes that come into each node and leave it, and that it handles.
struct NodeWork {
  std::vector<int64_t> in, out, load;
};

/// What nodes have to do if part p is handled by node `node_of_part[p]`; of no nodes if there are
/// no parts.
NodeWork work_of(const NodeBytes& have, const std::vector<int>& node_of_part);

/// Bytes that come in or leave at most, over all nodes: what the busiest link must carry.
int64_t busiest_link(const NodeBytes& have, const std::vector<int>& node_of_part);

/// Bytes that must cross the network however the parts are handled: those of each part but its
/// fullest node's.
int64_t least_between(const NodeBytes& have);

/// Times its even share of the bytes that a node handles at most where nothing says what a byte
/// costs (plan/node_share.h).
inline constexpr double kUsualShare = 1.25;

/// The node of each part, among those with `serves[node]`: each part goes where most of its bytes
/// are, in the order of what would be lost otherwise, as long as no node gets more than `most`
/// times its even share of the bytes. Of several about equal nodes the one with the least so far,
/// or that of the part before if it is at most `run` bytes ahead, within 1/32 and 1/8 of the share:
/// so much is in a row. At least one node must serve. O(parts * (nodes + log parts)).
std::vector<int> place_by_bytes(const NodeBytes& have, const std::vector<bool>& serves, int64_t run,
                                double most = kUsualShare);

}  // namespace haichi::plan
