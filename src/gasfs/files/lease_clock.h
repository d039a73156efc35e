// The clock by which leases end: it goes on while a host sleeps, as it does for all others.
#pragma once

#include "base/clock.h"

namespace haichi::gasfs {

inline int64_t lease_clock_ns() { return clock_ns(CLOCK_BOOTTIME); }

}  // namespace haichi::gasfs
