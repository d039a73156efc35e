// One visit to one point: make what it needs, warm up, sample for a while, free it again.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "measure/case/case.h"
#include "measure/case/team.h"
#include "measure/disturbance.h"
#include "measure/points.h"

namespace haichi::measure {

/// What a visit found; whole on the first of the ranks that took part, elsewhere only `problem`.
struct VisitFacts {
  double first = 0;              ///< seconds of the first call
  int batch = 1;                 ///< calls in a sample
  Start start = Start::barrier;  ///< how samples began, at the end
  int64_t missed = 0;            ///< samples that a rank was late for
  double window = 0;             ///< seconds from sample to sample by the clock, at the end
  Disturbance disturbance;       ///< while samples were taken, on all ranks
};
struct VisitResult : VisitFacts {
  std::vector<double> samples;  ///< seconds of one call each, divided as the formula says
  std::string problem;          ///< why there are no samples; the same on all ranks
};

struct VisitOrder {
  double seconds;     ///< how long it may take; at least some samples are taken all the same
  Start start;        ///< how samples begin
  int batch;          ///< calls in a sample; 0: so many that reading the clock is 2 % of it
  double least;       ///< what a sample took in earlier visits at least; 0 without one
  double window;      ///< that the visit before ended with; 0 without one
  double clock_cost;  ///< seconds that this takes
};

/// Collective over `team`, the ranks that take part, which `at` has too.
VisitResult visit(const Point& point, Case& at, const VisitOrder& order, Team& team);

}  // namespace haichi::measure
