// Simulated time.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>

#include "machine/machine.h"

namespace haichi::sim {

using machine::Machine;

/// Picoseconds: whole numbers, so that a run is the same on every machine; 106 days fit.
using Time = int64_t;
inline constexpr Time kNanosecond = 1000;

/// Picoseconds that `bytes` take at `gbs` GB/s.
inline Time transfer_time(int64_t bytes, double gbs) {
  return Time(double(bytes) * 1000.0 / gbs + 0.5);
}

inline Time from_nanoseconds(double ns) { return Time(ns * double(kNanosecond) + 0.5); }
inline double seconds(Time time) { return double(time) * 1e-12; }

}  // namespace haichi::sim
