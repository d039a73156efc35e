// Who wants to know how far a simulated run is.
//
// PURE.
#pragma once

#include <cstdint>

namespace haichi::sim {

class Progress {
 public:
  virtual ~Progress() = default;
  /// Is told now and then how many messages were received.
  virtual void at(int64_t messages) = 0;
};

}  // namespace haichi::sim
