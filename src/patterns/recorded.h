// Schedules of all ranks written down step by step: haichi.schedule/1 (docs/guide/formats.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "placement/placement.h"
#include "plan/schedule.h"

namespace haichi::patterns {

/// Most steps of a record: some hundred megabytes of text.
inline constexpr int64_t kMostSteps = 2'000'000;

/// JSON lines: a head with the number of ranks and the window, then a line for each step, in the
/// order of each rank, without what ranks tell their nodes: sizes are known. Uses the schedules up.
/// Fails with E2BIG beyond kMostSteps, and with EINVAL if ranks have different windows.
Result<std::string> record(const std::vector<plan::Schedule*>& schedules,
                           const placement::Placement& placement);

struct Record {
  int window = 0;
  std::vector<std::vector<plan::Step>> steps;  ///< by rank
};

/// Reads that. Fails with EINVAL, naming the line.
Result<Record> read_record(std::string_view text);

}  // namespace haichi::patterns
