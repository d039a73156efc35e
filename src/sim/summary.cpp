#include "sim/summary.h"

#include <algorithm>
#include <numeric>

namespace haichi::sim {

std::vector<double> rank_seconds(const Outcome& outcome) {
  std::vector<double> times;
  for (size_t r = 0; r < outcome.finish.size(); ++r)
    times.push_back(seconds(outcome.finish[r] - outcome.start[r]));
  return times;
}

Summary summarize(const Outcome& outcome) {
  std::vector<double> times = rank_seconds(outcome);
  Summary summary;
  summary.mean = std::accumulate(times.begin(), times.end(), 0.0) / double(times.size());
  const auto worst = std::max_element(times.begin(), times.end());
  summary.worst = *worst;
  summary.worst_rank = int(worst - times.begin());
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  summary.median = times.size() % 2 == 1 ? times[half] : (times[half - 1] + times[half]) / 2;
  summary.best = times[0];
  return summary;
}

}  // namespace haichi::sim
