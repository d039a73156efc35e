// What `haichi measure --quick` measures: what a profile of the machine is made of, in under a
// minute.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "measure/selection.h"

namespace haichi::measure {

/// One measurement of the quick part, and the sizes that it is made with; none if it has no size.
struct QuickEntry {
  std::string_view name;
  std::vector<int64_t> sizes;
};

std::span<const QuickEntry> quick_entries();

/// Those of `chosen` that are in the quick part, with its sizes.
std::vector<Chosen> quick_part(std::span<const Chosen> chosen);

/// Seconds for all of it, unless the user says otherwise. What is not measured by kQuickLimit times
/// that is left out.
inline constexpr double kQuickBudget = 40, kQuickLimit = 1.3;

}  // namespace haichi::measure
