// What a run prints: a table for each measurement, as OSU's and IMB's programs have it, with the
// spread that these leave out.
#pragma once

#include <string>
#include <vector>

#include "measure/records.h"

namespace haichi::measure {

/// Rows of all points that have samples, by measurement, place and size, whatever the order in
/// which they were measured; microseconds, and MB/s where there are bytes.
std::string table_of(const std::vector<Point>& points, const std::vector<Found>& found);

/// "1 min 20 s", "45 s", for estimates.
std::string duration(double seconds);

}  // namespace haichi::measure
