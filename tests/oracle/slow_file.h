// System calls on files that take a while now and then, in this process, whoever makes them: what a
// rank still writes when another goes on is a matter of microseconds otherwise. Times in
// microseconds.
#pragma once

#include <cstdint>

namespace oracle {

/// From now on `percent` of the reads and writes sleep up to `longest` before and as long behind.
void slow_files_down(int percent, int longest, uint64_t seed);

}  // namespace oracle
