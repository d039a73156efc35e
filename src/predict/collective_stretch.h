// By how much the messages of a collective call's schedule are to be stretched so that the whole
// call, all ranks coming at once, takes what was measured.
//
// What is longer than the messages come to is no port's time: the library does more than its
// messages' bytes. So it does not grow where another communicator's call goes through the same
// ports at once. What is shorter shortens all: then the ports are quicker than was known.
//
// PURE.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "predict/collective_steps.h"
#include "predict/costs.h"
#include "predict/job.h"
#include "predict/meetings.h"

namespace haichi::predict {

class CollectiveStretch {
 public:
  /// Runs a job by itself, the messages of its collective calls so stretched; returns its end.
  using RunAlone = std::function<sim::Time(const Job&, const Costs&, Stretch)>;
  CollectiveStretch(const Costs& costs, RunAlone run)
      : profile_(costs.profile()), bound_(costs.bound()), run_(std::move(run)) {
    profile_.machine.seats.clear();  // those of all nodes; a communicator may have some
  }

  /// None if the call was not measured with as many ranks and nodes; a note then says so, once for
  /// each function. `event` is as it was recorded.
  std::optional<Stretch> of(const record::Event& event, const Members& members);
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::optional<Stretch> work_out(const record::Event& event, const Members& members);

  machine::Profile profile_;
  const machine::Bound bound_;
  const RunAlone run_;
  std::map<std::tuple<std::string, int64_t, int, int>, std::optional<Stretch>> known_;
  std::set<std::string> told_;
  std::vector<std::string> notes_;
};

}  // namespace haichi::predict
