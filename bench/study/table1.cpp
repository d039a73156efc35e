#include "table1.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "topology/shape.h"

namespace haichi::study {
namespace {

// Formula (1), from the coordinates along one dimension: inside from least to most, or outside of
// them, round the end of a torus.
int length(const std::vector<bool>& taken, bool torus) {
  const int extent = int(taken.size());
  int first = 0, last = extent - 1;
  while (!taken[size_t(first)]) ++first;
  while (!taken[size_t(last)]) --last;
  const int inside = last - first + 1;
  if (!torus) return inside;
  // The widest gap between two coordinates that are taken is what the outside leaves free.
  int gap = 0, widest = 0;
  for (int at = first; at <= last; ++at) {
    gap = taken[size_t(at)] ? 0 : gap + 1;
    widest = std::max(widest, gap);
  }
  return std::min(inside, extent - widest);
}

}  // namespace

double contention(const Job& job) {
  const auto shape = topology::parse_shape(job.network);
  if (!shape || !shape->box()) return 1;
  const bool torus = shape->kind == topology::Shape::Kind::torus;
  int longest = 0;
  bool round = false;
  int stride = 1;
  for (size_t d = shape->extents.size(); d-- > 0; stride *= shape->extents[d]) {
    const int extent = shape->extents[d];
    std::vector<bool> taken(static_cast<size_t>(extent));
    for (const int seat : job.seats) taken[size_t(seat / stride % extent)] = true;
    const int along = length(taken, torus);
    if (along < longest || (along == longest && round)) continue;
    longest = along;
    round = torus && along == extent;
  }
  return std::min(1.0, 2.0 / longest * (round ? 2 : 1));
}

std::optional<double> table1(const collectives::Candidate& candidate, int ranks, int64_t block,
                             double latency, double bandwidth) {
  const std::string name = candidate.text();
  const double others = ranks - 1, rounds = std::log2(ranks), bytes = double(block);
  const double ring = others * (latency + bytes / bandwidth);
  if (name == "spread(nd_rank_shift,0)" || name == "ring") return ring;
  if (name == "ring_one_barrier") return ring + latency * rounds;
  if (name == "ring_mpi_barrier") return ring + latency * others * rounds;
  if (name == "ring_light_barrier") return ring + latency * others;
  if (name == "bruck(2)") return latency * rounds + ranks * bytes * rounds / (2 * bandwidth);
  return std::nullopt;
}

}  // namespace haichi::study
