// Exchanges with blocks of one size: all-to-all and all-gather.
#include <errno.h>

#include "patterns/algorithm.h"
#include "patterns/pattern.h"

namespace haichi::patterns {
namespace {

using collectives::Kind;

Result<Job> blocks_of_one_size(const Case& of, Kind kind) {
  const collectives::Candidate candidate = algorithm_of(of.parameters);
  Job job;
  for (int r = 0; r < of.placement.ranks(); ++r) {
    const collectives::Exchange x{&of.placement, r, of.parameters.bytes, {}, {}, kind};
    if (const std::string why = candidate.refusal(x); !why.empty()) return fail(EINVAL, "{}", why);
    job.schedules.push_back(candidate.schedule(x));
  }
  return job;
}

}  // namespace

Result<Job> all_to_all(const Case& of) { return blocks_of_one_size(of, Kind::all_to_all); }
Result<Job> all_gather(const Case& of) { return blocks_of_one_size(of, Kind::all_gather); }

}  // namespace haichi::patterns
