// PURE.
#pragma once

namespace haichi::predict {

/// How much longer the messages of a collective call take than by themselves.
struct Stretch {
  double ports = 1;  ///< the time for which they occupy ports
  double rest = 1;   ///< all other: what is beyond it on the way, and the processors' work
};

}  // namespace haichi::predict
