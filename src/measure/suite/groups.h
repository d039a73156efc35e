// The catalogue: the measurements of each file of this folder. A new one stands in one of these
// files; a new file has its line here and in catalogue.cpp.
#pragma once

#include <vector>

#include "measure/measurement.h"

namespace haichi::measure {

std::vector<Measurement> point_to_point();
std::vector<Measurement> queue_search();
std::vector<Measurement> calls();
std::vector<Measurement> completion();
std::vector<Measurement> datatypes();
std::vector<Measurement> collectives();
std::vector<Measurement> neighbourhoods();
std::vector<Measurement> exchanges();
std::vector<Measurement> ordered_exchanges();
std::vector<Measurement> side_by_side();
std::vector<Measurement> large_counts();
std::vector<Measurement> overlap();
std::vector<Measurement> one_sided();
std::vector<Measurement> synchronisation();
std::vector<Measurement> windows();
std::vector<Measurement> file_accesses();
std::vector<Measurement> file_patterns();
std::vector<Measurement> file_handling();
std::vector<Measurement> metadata();
std::vector<Measurement> communicators();
std::vector<Measurement> objects();

/// All of them.
std::vector<Measurement> catalogue();

}  // namespace haichi::measure
