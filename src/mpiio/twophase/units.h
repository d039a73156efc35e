// The units in which a range of the file is looked at to tell where its bytes are: small enough to
// see the rows of a block-distributed array, and not more of them than can be counted quickly.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/twophase/two_phase_plan.h"

namespace haichi::mpiio {

/// Ascending borders of the units, the range's own among them: some thousand units at most, of
/// about 16 KiB at least. They lie where accesses begin and end, and, where all accesses repeat
/// every so many bytes (the planes of an array), so do they: no unit has bytes of two half planes.
/// The range must not be empty.
std::vector<int64_t> borders_of_units(const plan::Extent& range,
                                      const std::vector<RankDemand>& demands);

/// The same of a range whose bytes are all in the parts, which ascend: each unit is of one part, or
/// of several and what lies between them. Units have no bytes between them.
std::vector<plan::Extent> units_of_parts(const std::vector<plan::Extent>& parts);

}  // namespace haichi::mpiio
