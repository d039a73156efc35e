// Parts of paths, and where links lead.
#pragma once

#include <limits.h>
#include <stdlib.h>

#include <string>
#include <string_view>

namespace haichi::launch {

inline std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// The path without links; as it is if it leads nowhere.
inline std::string real_path(const std::string& path) {
  char buffer[PATH_MAX];
  return realpath(path.c_str(), buffer) ? buffer : path;
}

}  // namespace haichi::launch
