// What `haichi simulate` is asked for, and what comes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "machine/machine.h"
#include "patterns/pattern.h"
#include "sim/summary.h"

namespace haichi::offline {

/// A pattern on a machine.
struct SimulateRequest {
  /// Sets the pattern, its defaults and all its alternatives.
  void use(const patterns::Pattern& chosen);

  const patterns::Pattern* pattern = nullptr;
  std::string placement = "BK";  ///< BK, RR, or the path of a placement file
  int nodes = 0, per_node = 1;   ///< of BK and RR
  int ranks = 0;                 ///< of a file, where the notation does not say it; else 0
  patterns::Parameters parameters;
  /// The values of each of the pattern's alternatives that are to be looked at.
  std::vector<std::vector<std::string>> alternatives;
  double skew_ns = 0, noise = 0;
  uint64_t seed = 0;
  machine::Machine machine;
  std::string sweep_key;  ///< empty: no sweep
  std::vector<std::string> sweep_values;
  int64_t memory = 0;          ///< bytes that it may take; 0: what is free
  bool progress = false;       ///< is shown, also where nobody sits at a terminal
  bool record = false;         ///< the schedules are wanted
  std::string traced_command;  ///< not empty: a report is wanted, of this command line

  /// How many cases it has.
  size_t cases() const;
};

/// What one case comes to.
struct SimulateRow {
  std::string value;                      ///< of the sweep
  std::vector<std::string> alternatives;  ///< the value of each
  patterns::Parameters parameters;
  int nodes, ranks;
  sim::Summary summary;
  double span;  ///< seconds from the first rank's start to the last one's end
  int64_t messages, network_bytes, file_bytes, program_bytes, cycles;
  std::vector<std::string> why;
  std::vector<double> seconds;  ///< of each rank
  std::string record;           ///< haichi.schedule/1, if wanted
  std::string report;           ///< haichi.report/1, if wanted
};

/// Sets a parameter of the pattern (an alternative also to `all`), nodes, ppn, network or a number
/// of the machine. Fails with EINVAL.
Status assign(SimulateRequest& request, std::string_view key, const std::string& value);

/// Runs every combination of the alternatives at every value of the sweep, the last alternative
/// changing fastest.
Result<std::vector<SimulateRow>> run_simulations(const SimulateRequest& request);

}  // namespace haichi::offline
