// The files of code that are in this process.
#pragma once

#include <vector>

#include "record/definitions.h"

namespace haichi::recorder {

/// All that are loaded now.
std::vector<record::CodeObject> code_objects();

}  // namespace haichi::recorder
