// Numbers that look random and are the same on every machine.
//
// PURE.
#pragma once

#include <cstdint>

namespace haichi::sim {

inline uint64_t mixed(uint64_t x) {  // SplitMix64
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// From 0 to just below 1.
inline double unit(uint64_t x) { return double(x >> 11) * 0x1p-53; }

}  // namespace haichi::sim
