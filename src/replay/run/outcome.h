// What a replay prints: recorded beside replayed.
#pragma once

#include <string>
#include <vector>

#include "record/record.h"
#include "replay/run/options.h"
#include "replay/run/player.h"

namespace haichi::replay {

/// Outcomes of all ranks, on rank 0; elsewhere empty. Collective.
std::vector<Outcome> gathered(const Outcome& mine);

/// A table of the ranks (of many: of the slowest) and a line of them together.
std::string table_of(const std::vector<Outcome>& all);

/// One line of haichi.replay/1: the same for all ranks, and what was left out.
std::string json_of(const std::vector<Outcome>& all, const record::Record& record,
                    const Options& options, const std::vector<std::string>& notes);

}  // namespace haichi::replay
