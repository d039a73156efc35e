// How long candidates are tried, as the settings say.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/settings.h"
#include "collectives/selection.h"

namespace haichi::mpi {

/// Who pays for trials: the budget of collectives.budget, or the user, who asked for them.
enum class TrialsAre : unsigned char { budgeted, asked_for };

inline collectives::SelectionRules selection_rules(const Settings& settings,
                                                   TrialsAre trials = TrialsAre::budgeted) {
  collectives::SelectionRules rules;
  rules.rounds = int(std::clamp<int64_t>(settings.number("collectives.rounds"), 1, 1000));
  const auto per_cent = std::max<int64_t>(0, settings.number("collectives.budget"));
  rules.budget = double(per_cent) / 100;
  if (settings.text("collectives.prune") == "off") rules.drop = {HUGE_VAL};
  if (trials == TrialsAre::asked_for || per_cent >= 100 || std::isinf(rules.drop[0]))
    rules.budget = HUGE_VAL;
  return rules;
}

}  // namespace haichi::mpi
