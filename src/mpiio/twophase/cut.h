// How the range of an access in two phases is cut: as a whole or in its parts, in how many cycles.
// The plan is made by this, and what it costs is estimated by it.
//
// PURE: no MPI, no clock, no environment.
#pragma once

#include <cstdint>

#include "mpiio/twophase/two_phase_plan.h"
#include "placement/placement.h"

namespace haichi::mpiio {

/// More parts of a range are not looked for: all ranks keep them.
inline constexpr int64_t kMostParts = 64 << 10;

/// A hole of this size or more ends a part. A reader of smaller ones goes through them, a writer
/// writes pieces that are as far apart one by one, whatever window they are in.
constexpr int64_t hole_of(Direction direction) {
  return direction == Direction::read ? 64 << 10 : 16 << 10;
}
/// The same in windows of so many bytes: of smaller ones several would be in a hole.
int64_t hole_in(Direction direction, int64_t window);

/// Bytes that the parts of a range of so many have at most, for it to be cut in them.
int64_t most_in_parts(int64_t range);

/// As many cycles as overlapping is worth: its gain is the part of the first and the last.
inline constexpr int64_t kOverlappingCycles = 8;

/// How many windows a collective buffer holds, and most bytes of each.
int windows_of_buffer(const placement::Placement& placement, const TwoPhaseOptions& options);
int64_t window_of_buffer(const placement::Placement& placement, const TwoPhaseOptions& options);

/// Bytes of a window of an access of `range`: what is asked for, or less.
int64_t window_size(const placement::Placement& placement, const plan::Extent& range,
                    int aggregators, const TwoPhaseOptions& options);

/// Even domains, or stripes, of a range.
plan::FileDomains even_domains(const plan::Extent& range, int aggregators, int64_t window,
                               const TwoPhaseOptions& options);

/// What the aggregators have to do in an access.
struct Cut {
  bool in_parts = false;
  int64_t parts = 1;   ///< 1 of the whole range
  int64_t bytes = 0;   ///< of the file, in windows
  int64_t cycles = 0;  ///< of the busiest aggregator
};

/// Of the range as a whole.
Cut cut_of_range(const placement::Placement& placement, const TwoPhaseOptions& options,
                 int aggregators, const plan::Extent& range);

/// About, by the sums of what ranks want. The plan may have more cycles, up to kOverlappingCycles:
/// it looks for no smaller holes then.
Cut cut_of(const placement::Placement& placement, const TwoPhaseOptions& options, int aggregators,
           const Demand& demand);

}  // namespace haichi::mpiio
