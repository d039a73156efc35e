// Neighbours in a ring.
#include <memory>

#include "patterns/pattern.h"

namespace haichi::patterns {
namespace {

using plan::Step;

// A receive from each source, then a send to each target, then a wait.
class Neighbours : public plan::Schedule {
 public:
  Neighbours(std::vector<int> sources, std::vector<int> targets, int64_t bytes, int window)
      : sources_(std::move(sources)),
        targets_(std::move(targets)),
        bytes_(bytes),
        window_(window) {}

  bool next(Step& step) override {
    if (at_ == sources_.size() + targets_.size()) return false;
    const bool receives = at_ < sources_.size();
    step = {.kind = receives ? Step::Kind::receive : Step::Kind::send,
            .peer = receives ? sources_[at_] : targets_[at_ - sources_.size()]};
    const int64_t place = int64_t(receives ? at_ : at_ - sources_.size());
    (receives ? step.to : step.from) = {receives ? 1 : 0, place * bytes_, bytes_};
    ++at_;
    return true;
  }
  int max_outstanding() const override { return window_; }

 private:
  const std::vector<int> sources_, targets_;
  const int64_t bytes_;
  const int window_;
  size_t at_ = 0;
};

// One message up for each rank, and one down if both ways.
Job ring(const Case& of, bool both_ways) {
  const Parameters& p = of.parameters;
  const int ranks = of.placement.ranks(), distance = p.distance % ranks;
  Job job;
  for (int r = 0; r < ranks; ++r) {
    const int up = int((int64_t(r) + distance) % ranks);
    const int down = int((int64_t(r) - distance + ranks) % ranks);
    std::vector<int> sources{down}, targets{up};
    if (both_ways) sources.push_back(up), targets.push_back(down);
    job.schedules.push_back(
        std::make_unique<Neighbours>(std::move(sources), std::move(targets), p.bytes, p.window));
  }
  return job;
}

}  // namespace

Result<Job> shift(const Case& of) { return ring(of, false); }
Result<Job> exchange(const Case& of) { return ring(of, true); }

}  // namespace haichi::patterns
