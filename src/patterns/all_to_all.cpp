#include "patterns/algorithm.h"
#include "patterns/pattern.h"

namespace haichi::patterns {

Result<Job> all_to_all(const Case& of) {
  const collectives::Candidate candidate = algorithm_of(of.parameters);
  Job job;
  for (int r = 0; r < of.placement.ranks(); ++r)
    job.schedules.push_back(candidate.schedule({&of.placement, r, of.parameters.bytes}));
  return job;
}

}  // namespace haichi::patterns
