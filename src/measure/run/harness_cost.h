// What the harness itself takes for each sample: reading the clock, calling through its wrappers,
// keeping the time and counting it, with what it does once a burst.
#pragma once

namespace haichi::measure {

/// Seconds for a sample, of the fastest of some bursts without a call; on this rank alone.
double harness_seconds();

}  // namespace haichi::measure
