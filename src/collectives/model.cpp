#include "collectives/model.h"

#include <fmt/format.h>

#include <algorithm>

namespace haichi::collectives {

Terms predict(const Candidate& candidate, Traffic& traffic, const Costs& costs, int64_t block) {
  return candidate.algorithm->time({&traffic, &costs, block}, candidate.parameters);
}

std::vector<Verdict> prune(std::span<const Candidate> candidates, Traffic& traffic,
                           const Costs& costs, int64_t block, double factor) {
  std::vector<Verdict> verdicts;
  for (const Candidate& candidate : candidates) {
    const Terms terms = predict(candidate, traffic, costs, block);
    verdicts.push_back({.terms = terms, .seconds = terms.total()});
  }
  const auto best =
      std::min_element(verdicts.begin(), verdicts.end(),
                       [](const Verdict& a, const Verdict& b) { return a.seconds < b.seconds; });
  for (Verdict& each : verdicts) {
    each.kept = &each == &*best || each.seconds <= factor * best->seconds;
    each.reason =
        &each == &*best
            ? "predicted best"
            : fmt::format("{:.2f} times the predicted best{}", each.seconds / best->seconds,
                          each.kept ? "" : fmt::format(", more than {:g}", factor));
  }
  return verdicts;
}

}  // namespace haichi::collectives
