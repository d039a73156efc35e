// What the speaker of a node tells an aggregator: which of the node's ranks have bytes in its file
// domain, and where. One letter for each aggregator whose domain the node's bytes may touch, which
// both sides know from the node's word (node_agreement.h). Ranks one after the other that have the
// same bytes at equal distances are described once.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mpiio/agreement/announcement.h"
#include "mpiio/regions/access.h"
#include "placement/placement.h"
#include "plan/file_domains.h"

namespace haichi::mpiio {

/// The letters of a node whose ranks' announcements are `of_node`, which must outlive it.
class NodeLetters {
 public:
  explicit NodeLetters(std::span<const Announcement> of_node);
  /// To the aggregator of `domain`: the ranks that have bytes there, or may have if their accesses
  /// are large. May be empty.
  std::vector<std::byte> to(const plan::Extent& domain) const;

 private:
  struct Run;
  bool touches(size_t index, const plan::Extent& domain) const;
  bool goes_on(const Run& run, size_t index) const;
  void write(const Run& run, std::vector<std::byte>& letter) const;

  const std::span<const Announcement> of_node_;
  std::vector<Access> accesses_;  // of those that are not large
};

/// What a letter says of one rank.
struct LetterEntry {
  int rank;
  bool large;  ///< its access is to be asked for
  Access access;
};

/// The entries of a letter from `node`, ascending by rank. Fails with EBADMSG if it is damaged.
/// `pool`: one for the letters of all nodes.
Result<std::vector<LetterEntry>> read_letter(const placement::Placement& placement, int node,
                                             std::span<const std::byte> letter, PatternPool& pool);

}  // namespace haichi::mpiio
