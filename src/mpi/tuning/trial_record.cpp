#include "mpi/tuning/trial_record.h"

namespace haichi::mpi {

report::CollectiveRecord trial_record(std::string text, int size_bin,
                                      const collectives::Selection& selection,
                                      const std::vector<std::string>& names,
                                      const placement::Placement& placement) {
  report::CollectiveRecord record;
  record.collective = std::move(text);
  record.ranks = placement.ranks();
  record.nodes = placement.nodes();
  record.size_bin = size_bin;
  record.calls = selection.calls();
  record.retries = selection.retries();
  record.locked = selection.state() == collectives::Selection::State::locked;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto& trials = selection.trials()[i];
    record.candidates.push_back({names[i], trials.seconds, trials.dropped});
    const collectives::Selection::Steady& steady = selection.steady()[i];
    record.candidates.back().steady_calls = steady.calls;
    record.candidates.back().steady_seconds = steady.seconds;
    record.seconds += steady.seconds;
  }
  if (const int chosen = selection.chosen(); chosen >= 0)
    record.chosen = record.candidates[size_t(chosen)].name;
  return record;
}

}  // namespace haichi::mpi
