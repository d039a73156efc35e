// What trials decided, as a text that a later run on the same machine starts with
// (haichi.decisions/1, docs/guide/formats.md).
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "placement/placement.h"

namespace haichi::collectives {

/// The choice for one key.
struct Decision {
  std::string collective;  ///< name of the MPI function without "_c"
  int size_bin = -1;       ///< log2 of a block's bytes; -1: blocks of any size
  std::string chosen;      ///< "library", or as Candidate::text()
  double seconds = 0;      ///< of a call, agreed by the ranks
  bool same_key(const Decision& other) const {
    return collective == other.collective && size_bin == other.size_bin;
  }
};

/// What the decisions hold for. A decision for anything else is worth nothing.
struct DecidedFor {
  std::string library;    ///< MPI library and its version
  std::string placement;  ///< signature_of()
  friend bool operator==(const DecidedFor&, const DecidedFor&) = default;
};

/// A short text that two placements share if and (but for a collision of 64 bits) only if they have
/// the same ranks together on nodes: "16-ranks-4-nodes-1f2e3d4c5b6a7988". Names of nodes do not
/// count: a job's nodes are others each time.
std::string signature_of(const placement::Placement& placement);

std::string decisions_text(const DecidedFor& whom, const std::vector<Decision>& decisions);

/// Fails with EINVAL and a reason if the text is damaged or holds for something else. An entry that
/// makes no sense makes the whole text worthless.
Result<std::vector<Decision>> parse_decisions(std::string_view text, const DecidedFor& whom);

/// The one for a key, or null.
const Decision* find_decision(const std::vector<Decision>& decisions, std::string_view collective,
                              int size_bin);

/// `old` with those of `now` in place of what has the same key.
std::vector<Decision> joined(std::vector<Decision> old, const std::vector<Decision>& now);

}  // namespace haichi::collectives
