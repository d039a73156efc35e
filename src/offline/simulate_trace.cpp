#include "offline/simulate_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "placement/formats.h"

namespace haichi::offline {
namespace {

using Json = nlohmann::ordered_json;

// Most events of a rank, as of a real one by default, and of all ranks together.
constexpr size_t kMostEvents = 4096;
constexpr size_t kMostEventsOfAll = 500'000;

size_t capacity_for(int ranks) {
  return std::min(kMostEvents, kMostEventsOfAll / size_t(ranks) + 1);
}

// The report has nanoseconds, as real clocks do.
int64_t nanoseconds(sim::Time time) { return time / sim::kNanosecond; }

Json rank_as_json(const trace::Recorder& recorder, int rank, int node) {
  Json seconds, bytes, events = Json::array();
  for (int p = 0; p < trace::kPhases; ++p) {
    const auto phase = trace::Phase(p);
    seconds[name_of(phase)] = double(recorder.total_ns(phase)) * 1e-9;
    if (phase != trace::Phase::agree) bytes[name_of(phase)] = recorder.total_bytes(phase);
  }
  std::vector<trace::Event> sorted = recorder.events();
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  for (const trace::Event& e : sorted)
    events.push_back({e.call, e.cycle, name_of(e.phase), double(e.begin_ns) * 1e-3,
                      double(e.end_ns) * 1e-3, e.bytes});
  return {{"rank", rank},   {"node", node},     {"seconds", seconds},
          {"bytes", bytes}, {"events", events}, {"events_dropped", recorder.dropped()}};
}

// Seconds from the first rank's start to the last one's end.
double span_of(const sim::Outcome& outcome) {
  return sim::seconds(*std::max_element(outcome.finish.begin(), outcome.finish.end()) -
                      *std::min_element(outcome.start.begin(), outcome.start.end()));
}

}  // namespace

SimulatedTrace::SimulatedTrace(const placement::Placement& placement)
    : placement_(placement),
      ranks_(size_t(placement.ranks()),
             trace::Recorder(capacity_for(placement.ranks()), placement.nodes())) {}

void SimulatedTrace::accessed(const sim::AccessRecord& record) {
  add(record.rank, record.writes ? trace::Phase::write : trace::Phase::read, record.round,
      record.begin, record.end, record.bytes);
}

void SimulatedTrace::exchanged(const sim::ExchangeRecord& record) {
  add(record.rank, trace::Phase::exchange, record.round, record.begin, record.end, record.bytes);
}

void SimulatedTrace::moved(int from, int to, int64_t bytes) {
  ranks_[size_t(from)].sent(placement_.node_of(to), bytes);
}

void SimulatedTrace::add(int rank, trace::Phase phase, int64_t round, sim::Time begin,
                         sim::Time end, int64_t bytes) {
  ranks_[size_t(rank)].add({0, int32_t(round), phase, nanoseconds(begin), nanoseconds(end), bytes});
}

std::string SimulatedTrace::as_report(const std::string& command, const patterns::Pattern& pattern,
                                      const patterns::Parameters& parameters,
                                      const patterns::Job& job, const sim::Outcome& outcome) const {
  Json ranks = Json::array(), names = Json::array();
  const auto nodes = size_t(placement_.nodes());
  std::vector<std::vector<int64_t>> traffic(nodes, std::vector<int64_t>(nodes));
  int64_t inside = 0, between = 0;
  for (size_t r = 0; r < ranks_.size(); ++r) {
    const auto node = size_t(placement_.node_of(int(r)));
    ranks.push_back(rank_as_json(ranks_[r], int(r), int(node)));
    for (size_t to = 0; to < nodes; ++to) {
      const int64_t bytes = ranks_[r].sent_to()[to];
      traffic[node][to] += bytes;
      (to == node ? inside : between) += bytes;
    }
  }
  for (size_t n = 0; n < nodes; ++n) names.push_back(placement_.node_name(int(n)));
  const Json call = {{"index", 0},
                     {"call", pattern.name},
                     {"handled", true},
                     {"bytes", job.program_bytes},
                     {"seconds", span_of(outcome)},
                     {"aggregators", job.aggregators},
                     {"layout", job.aggregators.empty() ? "" : name_of(parameters.layout)},
                     {"order", pattern.has("order") ? name_of(parameters.order) : ""},
                     {"window", parameters.window},
                     {"cycles", job.cycles},
                     {"why", job.why},
                     {"bytes_inside", inside},
                     {"bytes_between", between}};
  const Json report = {
      {"schema", "haichi.report/1"},
      {"haichi", kVersion},
      {"program",
       {{"command", command},
        {"ranks", placement_.ranks()},
        {"started", "simulated"},
        {"wall_s", span_of(outcome)},
        {"job", nullptr}}},
      {"mpi", {{"abi", "simulated"}, {"library", "none: haichi simulate"}}},
      {"placement", Json::parse(placement::to_json(placement_), nullptr, false)},
      {"files",
       Json::array(
           {{{"path", pattern.name}, {"access", "collective"}, {"calls", Json::array({call})}}})},
      {"traffic", {{"nodes", names}, {"bytes", traffic}}},
      {"ranks", std::move(ranks)}};
  return report.dump() + "\n";
}

}  // namespace haichi::offline
