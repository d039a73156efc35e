// Which candidates are worth a trial: the predicted time of each, and the pruning of those that are
// predicted to be far slower than the best (paper 004, section 3.2).
//
// docs/guide/collectives.md has the formulas, and how often the pruning is right.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/algorithm.h"
#include "collectives/cost.h"

namespace haichi::collectives {

/// Paper 004, section 3.2: candidates that are predicted to take more than twice the time of the
/// best one are not tried.
inline constexpr double kPruneFactor = 2;
/// Where nothing is known of the machine and the default costs stand for it: wrong by more.
/// docs/guide/collectives.md, "What choosing costs", has what this saves and what it loses.
inline constexpr double kPruneFactorUnknown = 3;

/// The time of one exchange of blocks of that many bytes, as the slowest rank sees it. Microseconds
/// once the traffic has been counted.
Terms predict(const Candidate& candidate, Traffic& traffic, const Costs& costs, int64_t block);

/// What became of a candidate.
struct Verdict {
  Terms terms;
  double seconds = 0;  ///< their sum
  bool kept = false;
  std::string reason;  ///< "predicted best", "1.4 times the predicted best", ...
};

/// One verdict for each candidate. The one that is predicted best is always kept. The MPI library's
/// own algorithm is not among the candidates, as nothing can be predicted of it: who prunes keeps
/// it. Precondition: at least one candidate.
std::vector<Verdict> prune(std::span<const Candidate> candidates, Traffic& traffic,
                           const Costs& costs, int64_t block, double factor = kPruneFactor);

}  // namespace haichi::collectives
