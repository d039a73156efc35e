// The prediction of paper 004 as it is printed: Table 1 and formulas (1) to (3). The study compares
// haichi's model with it.
#pragma once

#include <optional>

#include "collectives/algorithm.h"
#include "jobs.h"

namespace haichi::study {

/// Formulas (1) and (3): the share c of a link's bandwidth that is left to each rank, from the
/// smallest cuboid around the job. 1 where there are no links to share.
double contention(const Job& job);

/// Table 1, seconds: `latency` and `bandwidth` are those of a ping-pong. Nothing for an algorithm
/// that is not in the table.
std::optional<double> table1(const collectives::Candidate& candidate, int ranks, int64_t block,
                             double latency, double bandwidth);

}  // namespace haichi::study
