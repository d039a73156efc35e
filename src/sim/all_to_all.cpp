#include "sim/all_to_all.h"

#include <vector>

namespace haichi::sim {

bool AllToAll::next(plan::Step& step) {
  const int64_t ranks = order_.size();
  if (at_ > 2 * ranks) return false;
  step = {};
  if (at_ < ranks) {
    step.kind = plan::Step::Kind::receive;
    step.peer = int(at_);
    step.to = {1, step.peer * bytes_, bytes_};
  } else if (at_ < 2 * ranks) {
    step.kind = plan::Step::Kind::send;
    step.peer = order_.peer(int(at_ - ranks));
    step.from = {0, step.peer * bytes_, bytes_};
  } else {
    step.kind = plan::Step::Kind::wait;
  }
  ++at_;
  return true;
}

Result<Outcome> simulate_all_to_all(const placement::Placement& placement, const Machine& machine,
                                    const AllToAllCase& of, const Options& options) {
  std::vector<AllToAll> ranks;
  ranks.reserve(size_t(placement.ranks()));
  std::vector<plan::Schedule*> schedules;
  for (int r = 0; r < placement.ranks(); ++r)
    schedules.push_back(&ranks.emplace_back(placement, of.order, r, of.bytes, of.window));
  return simulate(placement, machine, schedules, options);
}

}  // namespace haichi::sim
