// Where the ranks' bytes are, as they tell one another before a collective access in two phases
// that is sparse: of the accesses that no announcement has room for (agreement.h).
#pragma once

#include <vector>

#include "base/result.h"
#include "mpi/access/agreement.h"
#include "mpi/files/file_state.h"
#include "mpiio/twophase/two_phase.h"
#include "plan/extent.h"

namespace haichi::mpi {

/// By rank; empty where a rank has told nothing.
using ToldParts = std::vector<std::vector<plan::Extent>>;

/// What each rank with a large access tells of it, `own` being this rank's. Nothing of anybody, and
/// no message, where that is not worth it (mpiio::worth_telling). Collective: an allgather of
/// sizes, and one of the parts.
Result<ToldParts> tell_parts(FileState& state, const mpiio::TwoPhaseOptions& options,
                             mpiio::Direction direction, const mpiio::Demand& together,
                             const Agreement& agreed, const mpiio::Access& own);

}  // namespace haichi::mpi
