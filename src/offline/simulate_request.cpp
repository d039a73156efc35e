#include "offline/simulate_request.h"

#include <errno.h>

#include <algorithm>
#include <optional>

#include "base/number_text.h"
#include "base/os.h"
#include "offline/simulate_size.h"
#include "offline/simulate_trace.h"
#include "patterns/recorded.h"
#include "placement/formats.h"
#include "sim/seating.h"

namespace haichi::offline {
namespace {

using placement::Placement;

Status assign_whole(int& target, std::string_view key, const std::string& value) {
  const auto whole = whole_number(value);
  if (!whole || *whole < 1)
    return fail(EINVAL, "{} takes a whole number from 1, not {}", key, value);
  target = *whole;
  return {};
}

Status assign_alternative(std::vector<std::string>& target, const patterns::Parameter& parameter,
                          const std::string& value) {
  const std::vector<std::string> words = patterns::words_of(parameter);
  if (value != "all" && std::find(words.begin(), words.end(), value) == words.end())
    return fail(EINVAL, "--{} takes all, {}, not {}", parameter.name, fmt::join(words, ", "),
                value);
  target = value == "all" ? words : std::vector{value};
  return {};
}

Result<Placement> placement_of(const SimulateRequest& request) {
  const bool dealt = request.placement == "RR";
  if (dealt || request.placement == "BK") {
    if (request.nodes < 1) return fail(EINVAL, "how many nodes? say --nodes N");
    if (int64_t(request.nodes) * request.per_node > placement::kMaxRanks)
      return fail(EINVAL, "{} nodes of {} ranks are more than {} ranks", request.nodes,
                  request.per_node, placement::kMaxRanks);
    return dealt ? placement::round_robin(request.nodes, request.per_node)
                 : placement::block(request.nodes, request.per_node);
  }
  const auto text = read_file(request.placement);
  if (!text) return tl::unexpected(text.error());
  auto found =
      request.ranks > 0 ? placement::parse(*text, request.ranks) : placement::from_json(*text);
  if (!found) return fail(EINVAL, "{}: {}", request.placement, found.error().text);
  if (found->ranks() < 1) return fail(EINVAL, "{}: no ranks", request.placement);
  return found;
}

std::vector<plan::Schedule*> schedules_of(const patterns::Job& job) {
  std::vector<plan::Schedule*> schedules;
  for (const auto& each : job.schedules) schedules.push_back(each.get());
  return schedules;
}

Result<SimulateRow> run_case(const SimulateRequest& request, const Placement& placement) {
  const patterns::Case asked{placement, request.machine, request.parameters};
  const auto size = size_of(*request.pattern, asked);
  if (!size) return tl::unexpected(size.error());
  if (auto fits = check_memory(request.memory, placement.ranks(), *size); !fits)
    return tl::unexpected(fits.error());
  const auto job = request.pattern->make(asked);
  if (!job) return tl::unexpected(job.error());
  SimulationProgress progress(request.progress, *size);
  std::optional<SimulatedTrace> trace;
  if (!request.traced_command.empty()) trace.emplace(placement);
  const auto outcome = sim::simulate(placement, request.machine, schedules_of(*job),
                                     {.seed = request.seed,
                                      .skew_ns = request.skew_ns,
                                      .noise = request.noise,
                                      .observer = trace ? &*trace : nullptr,
                                      .progress = &progress});
  if (!outcome) return tl::unexpected(outcome.error());
  const sim::Time first = *std::min_element(outcome->start.begin(), outcome->start.end());
  const sim::Time last = *std::max_element(outcome->finish.begin(), outcome->finish.end());
  SimulateRow row;
  row.parameters = request.parameters;
  row.nodes = placement.nodes();
  row.ranks = placement.ranks();
  row.summary = sim::summarize(*outcome);
  row.span = sim::seconds(last - first);
  row.messages = outcome->messages;
  row.network_bytes = outcome->network_bytes;
  row.file_bytes = outcome->file_bytes;
  row.program_bytes = job->program_bytes;
  row.cycles = job->cycles;
  row.why = job->why;
  row.seconds = sim::rank_seconds(*outcome);
  if (trace)
    row.report = trace->as_report(request.traced_command, *request.pattern, request.parameters,
                                  *job, *outcome);
  if (!request.record) return row;
  // The simulator has used the schedules up.
  const auto again = request.pattern->make(asked);
  if (!again) return tl::unexpected(again.error());
  auto record = patterns::record(schedules_of(*again), placement);
  if (!record) return tl::unexpected(record.error());
  row.record = *std::move(record);
  return row;
}

// The cases of one value of the sweep.
Status run_alternatives(SimulateRequest request, const std::string& value,
                        std::vector<SimulateRow>& rows) {
  const auto placement = placement_of(request);
  if (!placement) return tl::unexpected(placement.error());
  if (auto done = sim::seat_nodes(request.machine, *placement); !done)
    return fail(EINVAL, "{}: {}", request.placement, done.error().text);
  std::vector<size_t> at(request.alternatives.size());
  for (;;) {
    std::vector<std::string> chosen;
    for (size_t i = 0; i < at.size(); ++i) {
      const auto& parameter = *patterns::find_parameter(request.pattern->parameters[i]);
      chosen.push_back(request.alternatives[i][at[i]]);
      if (auto done = parameter.assign(request.parameters, parameter, chosen.back()); !done)
        return done;
    }
    auto row = run_case(request, *placement);
    if (!row) return tl::unexpected(row.error());
    row->value = value;
    row->alternatives = std::move(chosen);
    rows.push_back(*std::move(row));
    size_t digit = at.size();
    while (digit > 0 && ++at[digit - 1] == request.alternatives[digit - 1].size()) at[--digit] = 0;
    if (digit == 0) return {};
  }
}

}  // namespace

void SimulateRequest::use(const patterns::Pattern& chosen) {
  pattern = &chosen;
  parameters = chosen.defaults;
  alternatives.clear();
  for (size_t i = 0; i < chosen.alternatives; ++i)
    alternatives.push_back(patterns::words_of(*patterns::find_parameter(chosen.parameters[i])));
}

size_t SimulateRequest::cases() const {
  size_t count = std::max<size_t>(1, sweep_values.size());
  for (const auto& values : alternatives) count *= values.size();
  return count;
}

Status assign(SimulateRequest& request, std::string_view key, const std::string& value) {
  if (key == "nodes") return assign_whole(request.nodes, key, value);
  if (key == "ppn") return assign_whole(request.per_node, key, value);
  if (key == "network") {
    request.machine.network = value;
    return {};
  }
  const patterns::Pattern& pattern = *request.pattern;
  if (const patterns::Parameter* parameter = patterns::find_parameter(key)) {
    if (!pattern.has(key))
      return fail(EINVAL, "{} has no {}; it has {}", pattern.name, key,
                  fmt::join(pattern.parameters, ", "));
    for (size_t i = 0; i < pattern.alternatives; ++i)
      if (pattern.parameters[i] == key)
        return assign_alternative(request.alternatives[i], *parameter, value);
    return parameter->assign(request.parameters, *parameter, value);
  }
  const auto real = real_number(value);
  if (!real) return fail(EINVAL, "{} takes a number, not {}", key, value);
  return machine::set_field(request.machine, key, *real);
}

Result<std::vector<SimulateRow>> run_simulations(const SimulateRequest& request) {
  std::vector<SimulateRow> rows;
  if (request.sweep_key.empty()) {
    if (auto done = run_alternatives(request, "", rows); !done) return tl::unexpected(done.error());
    return rows;
  }
  for (const std::string& value : request.sweep_values) {
    SimulateRequest at = request;
    auto done = assign(at, request.sweep_key, value);
    if (done) done = run_alternatives(at, value, rows);
    if (!done) return tl::unexpected(done.error());
  }
  return rows;
}

}  // namespace haichi::offline
