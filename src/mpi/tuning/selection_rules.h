// How long candidates are tried, as the settings say.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/settings.h"
#include "collectives/selection.h"

namespace haichi::mpi {

/// Who pays for trials: a budget, or the user, who asked for them.
enum class TrialsAre : unsigned char { budgeted, asked_for };

/// `budget`: the setting that says per cent of what trials may cost.
inline collectives::SelectionRules selection_rules(const Settings& settings,
                                                   TrialsAre trials = TrialsAre::budgeted,
                                                   NumberKey budget = "collectives.budget") {
  collectives::SelectionRules rules;
  rules.rounds = int(std::clamp<int64_t>(settings.number("collectives.rounds"), 1, 1000));
  const auto per_cent = std::max<int64_t>(0, settings.number(budget));
  rules.budget = double(per_cent) / 100;
  if (settings.text("collectives.prune") == "off") rules.drop = {HUGE_VAL};
  if (trials == TrialsAre::asked_for || per_cent >= 100 || std::isinf(rules.drop[0]))
    rules.budget = HUGE_VAL;
  return rules;
}

}  // namespace haichi::mpi
