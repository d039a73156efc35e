// What `haichi simulate` is asked for, what comes out, and both as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/issue_order.h"
#include "sim/machine.h"
#include "sim/summary.h"

namespace haichi::launch {

/// An all-to-all on a machine.
struct SimulateRequest {
  std::string placement = "BK";  ///< BK, RR, or the path of a placement file
  int nodes = 0, per_node = 1;   ///< of BK and RR
  int ranks = 0;                 ///< of a file, where the notation does not say it; else 0
  std::vector<plan::IssueOrder> orders;
  int64_t bytes = 1024;
  int window = 0;
  double skew_ns = 0, noise = 0;
  uint64_t seed = 0;
  sim::Machine machine;
  std::string sweep_key;  ///< empty: no sweep
  std::vector<std::string> sweep_values;
};

/// What one order comes to.
struct SimulateRow {
  std::string value;  ///< of the sweep
  plan::IssueOrder order;
  int nodes, ranks;
  int64_t bytes;
  int window;
  sim::Summary summary;
  int64_t messages, network_bytes;
  std::vector<double> seconds;  ///< of each rank
};

/// Sets bytes, window, nodes, ppn, network or a number of the machine. Fails with EINVAL.
Status assign(SimulateRequest& request, std::string_view key, const std::string& value);

/// Reads a machine: a JSON object of the fields of sim::Machine, all of them optional, with
/// `"schema": "haichi.machine/1"`. Fails with EINVAL; the text begins with `name`.
Status read_machine(sim::Machine& machine, std::string_view text, const std::string& name);

/// Runs every order at every value of the sweep, in that order.
Result<std::vector<SimulateRow>> run_simulations(const SimulateRequest& request);

std::string simulations_as_table(const SimulateRequest& request,
                                 const std::vector<SimulateRow>& rows);
/// haichi.simulation/1 (docs/guide/simulation.md).
std::string simulations_as_json(const SimulateRequest& request,
                                const std::vector<SimulateRow>& rows, bool per_rank);

}  // namespace haichi::launch
