// Where in a range of the file the ranks' bytes are, if most of it is holes: a header and cells far
// behind it, say. Windows between them would be cycles for nothing.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>
#include <vector>

#include "mpiio/twophase/two_phase_plan.h"

namespace haichi::mpiio {

/// Whether the ranks' bytes fill so little of their range that it may be worth to look for its
/// parts, by its sums: all ranks must know one another's accesses then.
bool may_be_sparse(const Demand& together);

/// Ascending parts of the range with all bytes of the accesses, if they are at most a quarter of
/// it; else empty, also where it takes too long to find them. No two are closer together than
/// `hole` bytes. If parts have `enough` bytes in all or fewer, smaller holes in them are not looked
/// for, nor where more than half of the bytes are somebody's. Of an access that is not known on all
/// ranks the parts count that its rank has told, or its hull.
std::vector<plan::Extent> occupied_parts(const plan::Extent& range,
                                         const std::vector<RankDemand>& demands, int64_t hole,
                                         int64_t enough);

/// The same of one access, whatever fraction of its hull they are: `most` at most, with larger
/// holes in them if need be.
std::vector<plan::Extent> parts_to_tell(const Access& access, int64_t hole, int64_t most);

/// The parts dealt out to aggregators in order, evenly by their sizes, cut at whole pages of
/// the file.
std::vector<std::vector<plan::Extent>> dealt_out(const std::vector<plan::Extent>& parts,
                                                 int aggregators);

/// The parts, cut at the borders of stripes: stripe s (s = offset / unit) is aggregator s %
/// aggregators'.
std::vector<std::vector<plan::Extent>> striped_out(const std::vector<plan::Extent>& parts,
                                                   int64_t unit, int aggregators);

/// What `whole` has of the parts. Both ascend.
std::vector<plan::Extent> common_parts(const std::vector<plan::Extent>& whole,
                                       const std::vector<plan::Extent>& parts);

}  // namespace haichi::mpiio
