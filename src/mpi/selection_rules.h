// How long candidates are tried, as the settings say.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/settings.h"
#include "collectives/selection.h"

namespace haichi::mpi {

inline collectives::SelectionRules selection_rules(const Settings& settings) {
  collectives::SelectionRules rules;
  rules.rounds = int(std::clamp<int64_t>(settings.number("collectives.rounds"), 1, 1000));
  if (settings.text("collectives.prune") == "off") rules.drop = {HUGE_VAL};
  return rules;
}

}  // namespace haichi::mpi
