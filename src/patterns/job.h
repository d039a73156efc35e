// What the simulator is to run: the schedules of all ranks, and what they lean on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plan/schedule.h"

namespace haichi::patterns {

/// One case of a pattern. The placement that it was made for must outlive it; schedules are used
/// up when they have run.
struct Job {
  std::shared_ptr<const void> base;  ///< what the schedules point to; goes after them
  std::vector<std::unique_ptr<plan::Schedule>> schedules;  ///< by rank
  int64_t program_bytes = 0;     ///< that the program reads or writes; 0: no file is accessed
  std::vector<int> aggregators;  ///< of collective I/O
  int64_t cycles = 0;            ///< of collective I/O
  std::vector<std::string> why;  ///< what was decided and the reason, one clause each
};

}  // namespace haichi::patterns
