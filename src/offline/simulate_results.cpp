#include "offline/simulate_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/version.h"
#include "machine/profile.h"

namespace haichi::offline {
namespace {

using Json = nlohmann::ordered_json;

Json machine_as_json(const machine::Machine& machine) {
  Json fields = {
      {"schema", machine::kSchema1}, {"network", machine.network}, {"seats", machine.seats}};
  for (const machine::MachineField& field : machine::machine_fields())
    fields[std::string(field.name)] = machine.*field.member;
  return fields;
}

// Microseconds, to the picosecond that the simulator knows.
double microseconds(double seconds) { return double(int64_t(seconds * 1e12 + 0.5)) / 1e6; }

// 10^9 bytes a second of what the program reads or writes.
double throughput(const SimulateRow& row) {
  return row.span > 0 ? double(row.program_bytes) / row.span * 1e-9 : 0;
}

std::string as_text(const patterns::Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::to_string(std::get<int64_t>(value));
}

// The parameters that are the same in all rows.
std::string common_parameters(const SimulateRequest& request, const SimulateRow& row) {
  std::string text;
  const auto names = request.pattern->parameters.subspan(request.pattern->alternatives);
  for (const std::string_view name : names) {
    if (name == request.sweep_key) continue;
    const patterns::Parameter& parameter = *patterns::find_parameter(name);
    const std::string value = as_text(parameter.value(row.parameters, parameter));
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

double least_mean_beside(const SimulateRow& row, const std::vector<SimulateRow>& rows) {
  double least = row.summary.mean;
  for (const SimulateRow& other : rows)
    if (other.value == row.value) least = std::min(least, other.summary.mean);
  return least;
}

}  // namespace

std::string simulations_as_table(const SimulateRequest& request,
                                 const std::vector<SimulateRow>& rows) {
  const patterns::Pattern& pattern = *request.pattern;
  const SimulateRow& first = rows[0];
  const bool sweep = !request.sweep_key.empty(), file = first.program_bytes > 0;
  std::string text = fmt::format(
      "{}: {}\n{} ranks on {} nodes ({}), {}\nsimulated time of a rank, in microseconds{}\n\n",
      pattern.name, common_parameters(request, first), first.ranks, first.nodes, request.placement,
      request.machine.network,
      sweep ? fmt::format("; {} as in the first column", request.sweep_key) : "");
  size_t width = std::max<size_t>(request.sweep_key.size(), 12);
  for (const std::string& value : request.sweep_values) width = std::max(width, value.size());
  if (sweep) text += fmt::format("{:<{}}  ", request.sweep_key, width);
  for (size_t i = 0; i < pattern.alternatives; ++i)
    text += fmt::format("{:<14}", pattern.parameters[i]);
  text += fmt::format("{:>12}{:>12}{:>12}{:>12}{:>12}{:>8}{}\n", "mean", "median", "best", "worst",
                      "worst rank", "ratio", file ? "    GB/s" : "");
  for (const SimulateRow& row : rows) {
    const double least = least_mean_beside(row, rows);
    if (sweep) text += fmt::format("{:<{}}  ", row.value, width);
    for (const std::string& value : row.alternatives) text += fmt::format("{:<14}", value);
    const sim::Summary& s = row.summary;
    text += fmt::format("{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12}{:>8.2f}", s.mean * 1e6,
                        s.median * 1e6, s.best * 1e6, s.worst * 1e6, s.worst_rank,
                        least > 0 ? s.mean / least : 1);
    text += file ? fmt::format("{:>8.2f}\n", throughput(row)) : "\n";
  }
  text += "\nratio: the mean over the least one here\n";
  if (file) text += "GB/s: what the program reads or writes over the time of all ranks\n";
  return text;
}

std::string simulations_as_json(const SimulateRequest& request,
                                const std::vector<SimulateRow>& rows, bool per_rank) {
  const patterns::Pattern& pattern = *request.pattern;
  Json results = Json::array();
  for (const SimulateRow& row : rows) {
    const sim::Summary& s = row.summary;
    Json result;
    for (size_t i = 0; i < pattern.alternatives; ++i)
      result[std::string(pattern.parameters[i])] = row.alternatives[i];
    if (!request.sweep_key.empty()) result["sweep"] = {{request.sweep_key, row.value}};
    result.update({{"nodes", row.nodes}, {"ranks", row.ranks}});
    for (const std::string_view name : pattern.parameters.subspan(pattern.alternatives)) {
      const patterns::Parameter& parameter = *patterns::find_parameter(name);
      std::string key(name);
      std::replace(key.begin(), key.end(), '-', '_');
      std::visit([&](const auto& value) { result[key] = value; },
                 parameter.value(row.parameters, parameter));
    }
    result.update({{"mean_us", microseconds(s.mean)},
                   {"median_us", microseconds(s.median)},
                   {"best_us", microseconds(s.best)},
                   {"worst_us", microseconds(s.worst)},
                   {"worst_rank", s.worst_rank},
                   {"messages", row.messages},
                   {"network_bytes", row.network_bytes},
                   {"file_bytes", row.file_bytes}});
    if (row.program_bytes > 0)
      result.update({{"program_bytes", row.program_bytes},
                     {"gbs", throughput(row)},
                     {"cycles", row.cycles},
                     {"why", row.why}});
    if (per_rank)
      for (const double each : row.seconds) result["rank_us"].push_back(microseconds(each));
    results.push_back(std::move(result));
  }
  const Json document = {{"schema", "haichi.simulation/1"},
                         {"haichi", kVersion},
                         {"pattern", pattern.name},
                         {"placement", request.placement},
                         {"machine", machine_as_json(request.machine)},
                         {"skew_ns", request.skew_ns},
                         {"noise", request.noise},
                         {"seed", request.seed},
                         {"results", std::move(results)}};
  return document.dump(per_rank ? -1 : 2) + "\n";
}

}  // namespace haichi::offline
