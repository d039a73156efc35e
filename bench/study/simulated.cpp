#include "simulated.h"

#include "sim/summary.h"

namespace haichi::study {

Result<double> simulated(const placement::Placement& placement, const machine::Machine& machine,
                         const std::function<std::unique_ptr<plan::Schedule>(int rank)>& schedule) {
  std::vector<std::unique_ptr<plan::Schedule>> owned;
  std::vector<plan::Schedule*> schedules;
  for (int rank = 0; rank < placement.ranks(); ++rank)
    schedules.push_back(owned.emplace_back(schedule(rank)).get());
  const auto outcome = sim::simulate(placement, machine, schedules);
  if (!outcome) return tl::unexpected(outcome.error());
  return sim::summarize(*outcome).worst;
}

}  // namespace haichi::study
