#include "predict/prediction.h"

#include <errno.h>

#include <algorithm>

#include "predict/calls.h"
#include "sim/seating.h"

namespace haichi::predict {
namespace {

using machine::Bound;

Result<Job> job_of(const record::Record& record, const placement::Placement& placement,
                   const std::vector<Communicator>& communicators) {
  Job job{&placement, communicators, {}};
  for (size_t r = 0; r < size_t(record.ranks); ++r) {
    if (r >= record.sequences.size() || !record.sequences[r])
      return fail(EINVAL,
                  "the record has no sequence of rank {}: record the program with --sequence", r);
    job.sequences.push_back(&*record.sequences[r]);
  }
  return job;
}

bool has_interval(const machine::Profile& profile) {
  const auto& curves = profile.machine.curves;
  return std::any_of(curves.begin(), curves.end(),
                     [](const auto& each) { return each.points.has_interval(); });
}

// One line with the functions of which that is so; none if there are none.
template <class Is>
void note_those(const char* what, const Outcome& outcome, const Is& is,
                std::vector<std::string>& notes) {
  std::string names;
  for (const FunctionShare& each : outcome.functions)
    if (is(each)) names += fmt::format("{}{}", names.empty() ? "" : ", ", each.function);
  if (!names.empty()) notes.push_back(fmt::format("{}: {}", what, names));
}

bool is_as_recorded(const FunctionShare& share) {
  return call_of(share.function).act == Act::as_recorded && share.transfer > 0;
}
bool is_by_numbers(const FunctionShare& share) { return share.by_numbers; }

}  // namespace

Result<Prediction> predict(const record::Record& record, const machine::Profile& of_machine,
                           const Wish& wish) {
  const placement::Placement& placement = wish.placement ? *wish.placement : record.placement;
  if (placement.ranks() != record.ranks)
    return fail(EINVAL, "the placement is of {} ranks, and the record of {}", placement.ranks(),
                record.ranks);
  machine::Profile profile = of_machine;
  if (auto done = sim::seat_nodes(profile.machine, placement); !done)
    return tl::unexpected(done.error());
  std::vector<Communicator> communicators;
  for (const record::Communicator& each : record.communicators)
    communicators.push_back({each.id, each.members});
  const auto job = job_of(record, placement, communicators);
  if (!job) return tl::unexpected(job.error());

  Prediction prediction;
  prediction.nodes = placement.nodes();
  prediction.notes = record.notes;
  const Costs costs(placement, profile, Bound::middle);
  for (const std::string& line : costs.lacking()) prediction.notes.push_back(line);
  Options options{.compute_scale = wish.compute_scale, .exchange = wish.exchange};
  auto outcome = run(*job, costs, options);
  if (!outcome) return tl::unexpected(outcome.error());
  prediction.low_s = prediction.high_s = sim::seconds(outcome->end());
  prediction.has_interval = has_interval(profile) || wish.exchange.has_value();
  options.path = false;
  for (const bool stretched : {false, true}) {
    if (stretched && !wish.exchange) break;
    options.exchange_as_measured = stretched;
    for (const Bound bound : {Bound::low, Bound::middle, Bound::high}) {
      if (bound == Bound::middle ? !stretched : !has_interval(profile)) continue;
      const auto other = run(*job, Costs(placement, profile, bound), options);
      if (!other) return tl::unexpected(other.error());
      // Messages that are all faster may end later, where they then meet at a port.
      prediction.low_s = std::min(prediction.low_s, sim::seconds(other->end()));
      prediction.high_s = std::max(prediction.high_s, sim::seconds(other->end()));
    }
  }
  for (const std::string& line : outcome->notes) prediction.notes.push_back(line);
  note_those("taken as they were recorded, for want of a model", *outcome, is_as_recorded,
             prediction.notes);
  note_those("by the machine's numbers alone, for want of a curve", *outcome, is_by_numbers,
             prediction.notes);
  prediction.outcome = *std::move(outcome);
  return prediction;
}

}  // namespace haichi::predict
