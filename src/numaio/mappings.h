// The mappings of a process, as /proc/PID/smaps tells of them: what kind of pages each has.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace haichi::numaio {

struct Mapping {
  uint64_t begin, end;     ///< addresses
  std::string name;        ///< a file, "[heap]", ..., or empty
  int64_t huge_bytes = 0;  ///< in pages larger than the usual: of hugetlbfs, or transparent
  bool device = false;     ///< memory of a device: no pages that the kernel can place
};

/// PURE: of the text of smaps. What it does not understand it passes over.
std::vector<Mapping> parse_mappings(std::string_view smaps);

/// Of a process. Fails with ENOENT if there is none, EACCES if it is somebody else's.
Result<std::vector<Mapping>> mappings_of(pid_t pid);

}  // namespace haichi::numaio
