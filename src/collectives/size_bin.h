// Calls of about the same size, which are chosen for together.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace haichi::collectives {

/// log2 of the number, rounded down; of numbers below 1 it is 0.
inline int bin_of(int64_t number) {
  return int(std::bit_width(uint64_t(std::max<int64_t>(1, number)))) - 1;
}

/// What a call of so many bytes would take, if it had the fewest of its bin.
inline double scaled_to_bin(double seconds, int64_t bytes, int bin) {
  return seconds * std::ldexp(1.0, bin) / double(std::max<int64_t>(1, bytes));
}

}  // namespace haichi::collectives
