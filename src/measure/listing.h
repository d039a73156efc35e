// The catalogue as it is printed.
#pragma once

#include <span>
#include <string>

#include "measure/selection.h"

namespace haichi::measure {

/// By group, what is timed in a line each; and all that there is to say, as JSON.
std::string list_as_text(std::span<const Chosen> chosen);
std::string list_as_json(std::span<const Chosen> chosen);

}  // namespace haichi::measure
