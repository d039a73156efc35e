// Cold buffers: memory that is in no cache when a call uses it, as in a program that computes
// between its calls.
//
// By the processor's own instruction rather than by cycling through more memory than the caches
// hold: that would need as many windows, files and persistent requests as there are buffers, and
// would also cool what belongs to the MPI library.
#pragma once

#include <cstddef>

namespace haichi::measure {

/// Whether this processor lets a program do that.
bool can_cool();
/// Writes back and drops all lines of the memory, from the caches of all cores.
void take_out_of_caches(const char* begin, size_t size);

}  // namespace haichi::measure
