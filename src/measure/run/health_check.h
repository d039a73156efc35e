// haichi measure --health: which node or link of this job is slower than its peers.
#pragma once

#include "measure/run/launch_record.h"
#include "measure/run/options.h"

namespace haichi::measure {

/// Exit codes of a prologue: all is fine, something is slow, nothing can be said.
inline constexpr int kFine = 0, kSlow = 1, kUnknown = 2;

/// Collective over MPI_COMM_WORLD. Says on rank 0 what was found, and writes it to the file of
/// --out if there is one. The exit code on rank 0, 0 elsewhere.
int check_health(const Options& options, const JobFacts& job);

}  // namespace haichi::measure
