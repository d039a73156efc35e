// A simulated run as a run report (haichi.report/1), so that `haichi report` draws it like a real
// one.
#pragma once

#include <string>
#include <vector>

#include "patterns/pattern.h"
#include "placement/placement.h"
#include "sim/simulator.h"
#include "trace/recorder.h"

namespace haichi::offline {

/// Collects what happens while the simulator runs; each rank keeps a bounded number of events.
class SimulatedTrace : public sim::Observer {
 public:
  explicit SimulatedTrace(const placement::Placement& placement);

  void accessed(const sim::AccessRecord& record) override;
  void exchanged(const sim::ExchangeRecord& record) override;
  void moved(int from, int to, int64_t bytes) override;

  /// The whole report. `command` is the command line.
  std::string as_report(const std::string& command, const patterns::Pattern& pattern,
                        const patterns::Parameters& parameters, const patterns::Job& job,
                        const sim::Outcome& outcome) const;

 private:
  void add(int rank, trace::Phase phase, int64_t round, sim::Time begin, sim::Time end,
           int64_t bytes);

  const placement::Placement& placement_;
  std::vector<trace::Recorder> ranks_;
};

}  // namespace haichi::offline
