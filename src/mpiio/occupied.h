// Where in a range of the file the ranks' bytes are, if most of it is holes: a header and cells far
// behind it, say. Windows between them would be cycles for nothing.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/two_phase_plan.h"

namespace haichi::mpiio {

/// Ascending parts of the range with all bytes of the accesses, if they are at most a quarter of
/// it; else empty, also where there are too many parts. An access that is not known on all ranks
/// counts as its hull.
std::vector<plan::Extent> occupied_parts(const plan::Extent& range,
                                         const std::vector<RankDemand>& demands);

/// Of all parts together.
int64_t size_of(const std::vector<plan::Extent>& parts);

/// The parts dealt out to aggregators in order, evenly by their sizes, cut at whole pages of
/// the file.
std::vector<std::vector<plan::Extent>> dealt_out(const std::vector<plan::Extent>& parts,
                                                 int aggregators);

}  // namespace haichi::mpiio
