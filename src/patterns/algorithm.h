// Which algorithm the parameters of an all-to-all name.
#pragma once

#include "collectives/algorithm.h"
#include "patterns/parameters.h"

namespace haichi::patterns {

/// The one that was asked for, or everything at once in the issue order and window of the
/// parameters, as paper 000 (section 4.1) has it.
inline collectives::Candidate algorithm_of(const Parameters& p) {
  if (!p.algorithm.empty()) return *collectives::parse_candidate(p.algorithm);
  collectives::Candidate spread = *collectives::parse_candidate("spread");
  spread.parameters.order = p.order;
  spread.parameters.window = p.window;
  return spread;
}

}  // namespace haichi::patterns
