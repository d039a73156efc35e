// The lines of a samples file, haichi.samples/1: one JSON object each, told apart by `kind`
// (docs/guide/formats.md). Times are seconds, sizes bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "measure/disturbance.h"
#include "measure/histogram.h"
#include "measure/points.h"
#include "measure/refinement.h"
#include "measure/timetable.h"

namespace haichi::measure {

inline constexpr const char* kSamplesSchema = "haichi.samples/1";

/// What was found out about a point.
struct Found {
  Histogram samples;
  std::vector<double> raw;  ///< all samples in the order of their time, if asked for
  double first = 0;         ///< the first call of all, before anything was warm
  int visits = 0;
  int batch = 0;                 ///< calls in a sample
  Start start = Start::barrier;  ///< how the last visit began them
  int64_t missed = 0;            ///< samples that a rank was late for, which are not kept
  double window = 0;             ///< of the last visit, seconds from sample to sample by the clock
  Disturbance disturbance;       ///< while samples were taken, on all ranks
  std::string problem;           ///< why there are no samples; empty if there are
};

/// An entry of the catalogue; `kind` is "measurement".
nlohmann::ordered_json record_of(const Measurement& measurement);
/// What a point's samples say; `kind` is "point". Divided by what its formula says, and by the
/// calls in a sample: seconds of what the measurement is named after.
/// `role` says why it was measured: "grid", or "refined" or "switch" (measure/run/refine.h).
nlohmann::ordered_json record_of(const Point& point, const Found& found, const Goal& goal,
                                 int launch, const char* role = "grid");
/// A size at which the MPI library changes its way; `kind` is "switch".
nlohmann::ordered_json record_of(const Point& point, const Switch& found, int launch);
/// What was not measured and why; `kind` is "left". `place` and `bytes` only of a point.
nlohmann::ordered_json record_of(const Left& left, int launch);
nlohmann::ordered_json record_of(const Point& point, const std::string& problem, int launch);
/// That a launch has come to its end; `kind` is "end". `stated` and `took` in seconds, without what
/// comes before the first point.
nlohmann::ordered_json end_record(int launch, double stated, double took, size_t points,
                                  int failed);

}  // namespace haichi::measure
