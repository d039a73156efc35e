// What came out of `haichi simulate`, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "offline/simulate_request.h"

namespace haichi::offline {

std::string simulations_as_table(const SimulateRequest& request,
                                 const std::vector<SimulateRow>& rows);

/// haichi.simulation/1 (docs/guide/formats.md).
std::string simulations_as_json(const SimulateRequest& request,
                                const std::vector<SimulateRow>& rows, bool per_rank);

}  // namespace haichi::offline
