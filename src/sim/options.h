// What disturbs a simulated run, and who watches it.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>

#include "sim/observer.h"
#include "sim/progress.h"

namespace haichi::sim {

struct Options {
  uint64_t seed = 0;   ///< of skew and noise; the same seed gives the same run everywhere
  double skew_ns = 0;  ///< ranks start at times drawn evenly from 0 to this
  /// What a rank's processor does takes longer by a share drawn evenly from 0 to twice this: 0.1 is
  /// ten per cent in the mean.
  double noise = 0;
  Observer* observer = nullptr;
  Progress* progress = nullptr;
};

}  // namespace haichi::sim
