// A collective access in two phases: what the ranks announce, the plan, the exchange, and what
// became of it.
#pragma once

#include "mpi/access/access_request.h"
#include "mpi/access/access_summary.h"
#include "mpi/access/call_trace.h"
#include "mpi/files/outcome.h"

namespace haichi::mpi {

/// Carries the access out on all ranks, or on none: then the outcome is not taken, and `record`
/// says why. The ranks have agreed on `summary`. `balanced`: no node handles more than usual,
/// whatever a byte costs. Collective over the file's ranks.
CollectiveOutcome run_two_phase(FileState& state, const CollectiveCall& call, Request& request,
                                const AccessSummary& summary, bool balanced,
                                report::CallRecord& record, CallTrace& trace);

}  // namespace haichi::mpi
