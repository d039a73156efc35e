// What `haichi measure --quick` measures: what a profile of the machine is made of, in under a
// minute.
#pragma once

#include <span>
#include <vector>

#include "measure/selection.h"

namespace haichi::measure {

/// Those of `chosen` that are in the quick part, with its sizes.
std::vector<Chosen> quick_part(std::span<const Chosen> chosen);

/// Seconds for all of it, unless the user says otherwise. What is not measured by kQuickLimit times
/// that is left out.
inline constexpr double kQuickBudget = 40, kQuickLimit = 1.3;

}  // namespace haichi::measure
