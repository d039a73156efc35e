// Which haichi this is.
#pragma once

namespace haichi {

/// As CMakeLists.txt has it, "0.1.0". Compiled once, so that a new version rebuilds little.
extern const char* const kVersion;

}  // namespace haichi
