// What else the machine did while samples were taken: causes of outliers, as far as a kernel tells
// them.
#pragma once

#include <cstdint>

namespace haichi::measure {

struct Disturbance {
  double switches = 0;   ///< times that the kernel took a rank's core away from it
  double faults = 0;     ///< page faults, with and without a disk
  double steal = 0;      ///< seconds that the host of this virtual machine gave cores to others
  double least_mhz = 0;  ///< of the ranks' cores, at the begin or the end; 0: not known
  double most_mhz = 0;

  /// With what another rank saw meanwhile: of one host, so its steal is the larger one's.
  void join(const Disturbance& other);
  /// With what was seen later.
  void follow(const Disturbance& later);
};

/// Sees what happens from its making to seen(), to this process and on its host.
class DisturbanceMeter {
 public:
  DisturbanceMeter();
  Disturbance seen() const;

 private:
  Disturbance begin_;
};

}  // namespace haichi::measure
