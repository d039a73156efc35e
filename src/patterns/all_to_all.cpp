#include "sim/all_to_all.h"

#include "patterns/pattern.h"

namespace haichi::patterns {

Result<Job> all_to_all(const Case& of) {
  Job job;
  for (int r = 0; r < of.placement.ranks(); ++r)
    job.schedules.push_back(std::make_unique<sim::AllToAll>(
        of.placement, of.parameters.order, r, of.parameters.bytes, of.parameters.window));
  return job;
}

}  // namespace haichi::patterns
