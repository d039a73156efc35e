// Work that a rank does while MPI has something under way: no calls of MPI, no memory, and a length
// that is known beforehand.
#pragma once

#include <cstdint>

namespace haichi::measure {

/// So many rounds of dependent arithmetic; where something else takes the core, it takes longer.
void compute(int64_t rounds);
/// Rounds that take `seconds` on this core where nothing gets in between; at least one.
int64_t rounds_of(double seconds);

}  // namespace haichi::measure
