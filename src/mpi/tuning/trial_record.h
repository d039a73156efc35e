// What the run report says of candidates that were tried for file accesses.
#pragma once

#include <string>
#include <vector>

#include "collectives/selection.h"
#include "placement/placement.h"
#include "report/records.h"

namespace haichi::mpi {

/// `names[i]` is candidate i's. `text` stands where a collective's name does.
report::CollectiveRecord trial_record(std::string text, int size_bin,
                                      const collectives::Selection& selection,
                                      const std::vector<std::string>& names,
                                      const placement::Placement& placement);

}  // namespace haichi::mpi
