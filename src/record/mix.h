// Spreads the bits of a number over all of it, for hashes.
#pragma once

#include <cstdint>

namespace haichi::record {

/// The finaliser of splitmix64 (Steele, Lea and Flood 2014): a permutation.
inline uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace haichi::record
