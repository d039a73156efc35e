#include "launch/simulate_request.h"

#include <errno.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/number_text.h"
#include "base/os.h"
#include "base/settings.h"
#include "placement/formats.h"
#include "sim/all_to_all.h"

namespace haichi::launch {
namespace {

using Json = nlohmann::ordered_json;
using placement::Placement;

constexpr std::string_view kMachineSchema = "haichi.machine/1";

template <class Integer>
std::optional<Integer> number(const std::string& text) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Status assign_whole(int& target, std::string_view key, const std::string& value, int least) {
  const auto whole = number<int>(value);
  if (!whole || *whole < least)
    return fail(EINVAL, "{} takes a whole number from {}, not {}", key, least, value);
  target = *whole;
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

Status run_orders(const SimulateRequest& request, const std::string& value,
                  std::vector<SimulateRow>& rows) {
  const auto placement = placement_of(request);
  if (!placement) return tl::unexpected(placement.error());
  for (const plan::IssueOrder order : request.orders) {
    const auto outcome = sim::simulate_all_to_all(
        *placement, request.machine, {order, request.bytes, request.window},
        {.seed = request.seed, .skew_ns = request.skew_ns, .noise = request.noise});
    if (!outcome) return tl::unexpected(outcome.error());
    rows.push_back({value, order, placement->nodes(), placement->ranks(), request.bytes,
                    request.window, sim::summarize(*outcome), outcome->messages,
                    outcome->network_bytes, sim::rank_seconds(*outcome)});
  }
  return {};
}

std::string window_text(int window) { return window == 0 ? "none" : std::to_string(window); }

Json machine_as_json(const sim::Machine& machine) {
  Json fields = {{"schema", kMachineSchema}, {"network", machine.network}};
  for (const sim::MachineField& field : sim::machine_fields())
    fields[std::string(field.name)] = machine.*field.member;
  return fields;
}

// Microseconds, to the picosecond that the simulator knows.
double microseconds(double seconds) { return double(int64_t(seconds * 1e12 + 0.5)) / 1e6; }

}  // namespace

Status assign(SimulateRequest& request, std::string_view key, const std::string& value) {
  if (key == "window") return assign_whole(request.window, key, value, 0);
  if (key == "nodes") return assign_whole(request.nodes, key, value, 1);
  if (key == "ppn") return assign_whole(request.per_node, key, value, 1);
  if (key == "bytes") {
    const auto bytes = parse_bytes(value);
    if (!bytes) return fail(EINVAL, "bytes takes a size such as 64, 1k or 1M, not {}", value);
    request.bytes = *bytes;
    return {};
  }
  if (key == "network") {
    request.machine.network = value;
    return {};
  }
  const auto real = real_number(value);
  if (!real) return fail(EINVAL, "{} takes a number, not {}", key, value);
  return sim::set_field(request.machine, key, *real);
}

Status read_machine(sim::Machine& machine, std::string_view text, const std::string& name) {
  const Json fields = Json::parse(text, nullptr, false);
  if (!fields.is_object()) return fail(EINVAL, "{}: not a JSON object", name);
  if (fields.value("schema", Json()) != kMachineSchema)
    return fail(EINVAL, "{}: no \"schema\": \"{}\"", name, kMachineSchema);
  for (const auto& [key, value] : fields.items()) {
    if (key == "schema") continue;
    Status done = fail(EINVAL, "{} takes a number", key);
    if (key == "network" && value.is_string()) {
      machine.network = value.get<std::string>();
      done = {};
    } else if (key == "network") {
      done = fail(EINVAL, "network takes a text");
    } else if (value.is_number()) {
      done = sim::set_field(machine, key, value.get<double>());
    }
    if (!done) return fail(EINVAL, "{}: {}", name, done.error().text);
  }
  return {};
}

Result<std::vector<SimulateRow>> run_simulations(const SimulateRequest& request) {
  std::vector<SimulateRow> rows;
  if (request.sweep_key.empty()) {
    if (auto done = run_orders(request, "", rows); !done) return tl::unexpected(done.error());
    return rows;
  }
  for (const std::string& value : request.sweep_values) {
    SimulateRequest at = request;
    auto done = assign(at, request.sweep_key, value);
    if (done) done = run_orders(at, value, rows);
    if (!done) return tl::unexpected(done.error());
  }
  return rows;
}

std::string simulations_as_table(const SimulateRequest& request,
                                 const std::vector<SimulateRow>& rows) {
  const bool sweep = !request.sweep_key.empty();
  const SimulateRow& first = rows[0];
  std::string text = fmt::format(
      "all-to-all of {} bytes a message, {} ranks on {} nodes ({}), window {}, {}\n"
      "simulated time of a rank, in microseconds{}\n\n",
      first.bytes, first.ranks, first.nodes, request.placement, window_text(first.window),
      request.machine.network,
      sweep ? fmt::format("; {} as in the first column", request.sweep_key) : "");
  const size_t width = std::max<size_t>(request.sweep_key.size(), 12);
  if (sweep) text += fmt::format("{:<{}}  ", request.sweep_key, width);
  text += fmt::format("{:<14}{:>12}{:>12}{:>12}{:>12}{:>12}{:>8}\n", "order", "mean", "median",
                      "best", "worst", "worst rank", "ratio");
  for (const SimulateRow& row : rows) {
    double least = row.summary.mean;  // of the orders at this value
    for (const SimulateRow& other : rows)
      if (other.value == row.value) least = std::min(least, other.summary.mean);
    if (sweep) text += fmt::format("{:<{}}  ", row.value, width);
    const sim::Summary& s = row.summary;
    text += fmt::format("{:<14}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12}{:>8.2f}\n",
                        plan::name_of(row.order), s.mean * 1e6, s.median * 1e6, s.best * 1e6,
                        s.worst * 1e6, s.worst_rank, least > 0 ? s.mean / least : 1);
  }
  return text + "\nratio: the mean over that of the best order here\n";
}

std::string simulations_as_json(const SimulateRequest& request,
                                const std::vector<SimulateRow>& rows, bool per_rank) {
  Json results = Json::array();
  for (const SimulateRow& row : rows) {
    const sim::Summary& s = row.summary;
    Json result = {{"order", plan::name_of(row.order)}};
    if (!request.sweep_key.empty()) result["sweep"] = {{request.sweep_key, row.value}};
    result.update({{"nodes", row.nodes},
                   {"ranks", row.ranks},
                   {"bytes", row.bytes},
                   {"window", row.window},
                   {"mean_us", microseconds(s.mean)},
                   {"median_us", microseconds(s.median)},
                   {"best_us", microseconds(s.best)},
                   {"worst_us", microseconds(s.worst)},
                   {"worst_rank", s.worst_rank},
                   {"messages", row.messages},
                   {"network_bytes", row.network_bytes}});
    if (per_rank)
      for (const double each : row.seconds) result["rank_us"].push_back(microseconds(each));
    results.push_back(std::move(result));
  }
  const Json document = {{"schema", "haichi.simulation/1"},
                         {"haichi", HAICHI_VERSION},
                         {"pattern", "alltoall"},
                         {"placement", request.placement},
                         {"machine", machine_as_json(request.machine)},
                         {"skew_ns", request.skew_ns},
                         {"noise", request.noise},
                         {"seed", request.seed},
                         {"results", std::move(results)}};
  return document.dump(per_rank ? -1 : 2) + "\n";
}

}  // namespace haichi::launch
