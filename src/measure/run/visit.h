// One visit to one point: make what it needs, warm up, sample for a while, free it again.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "measure/points.h"
#include "measure/run/case.h"

namespace haichi::measure {

/// What a visit found; whole on the first of the ranks that took part, elsewhere only `problem`.
struct VisitResult {
  std::vector<double> samples;  ///< seconds of one call each, divided as the formula says
  double first = 0;             ///< of the first call
  int batch = 1;                ///< calls in a sample
  std::string problem;          ///< why there are no samples
};

/// Collective over the ranks that take part. `seconds` is how long it may take; at least some
/// samples are taken all the same. `batch` is how many calls a sample has; 0: so many that reading
/// the clock, which takes `clock_cost` seconds, is two per cent of it.
VisitResult visit(const Point& point, Case& at, double seconds, int batch, double clock_cost);

}  // namespace haichi::measure
