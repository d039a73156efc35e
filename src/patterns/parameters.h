// What patterns can be asked: one table gives the options of `haichi simulate`, the keys of its
// sweeps, and the fields of its results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "mpiio/storage/window_file.h"
#include "mpiio/twophase/two_phase.h"
#include "patterns/cycles_apart.h"
#include "plan/aggregators.h"
#include "plan/issue_order.h"

namespace haichi::patterns {

/// The values of all patterns' parameters; each pattern has some of them.
struct Parameters {
  plan::IssueOrder order = plan::IssueOrder::nd_rank_shift;
  int64_t bytes = 1024;  ///< of each message
  int window = 0;        ///< most sends outstanding; 0 is no limit
  int distance = 1;      ///< in ranks
  /// Of an all-to-all, as collectives/algorithm.h reads it; empty: see algorithm_of().
  std::string algorithm;
  std::string file;  ///< path
  // Collective I/O.
  plan::Layout layout = plan::Layout::roundrobin;
  mpiio::Direction access = mpiio::Direction::write;
  bool contiguous = false;  ///< regions in the file
  int64_t region_size = 3744, region_space = 256, region_count = 48000;
  int aggregators = 0;  ///< 0: as per_node says, or the default of haichi
  int per_node = 0;     ///< aggregators on each node; 0: no limit
  int64_t buffer = 0;   ///< bytes of a collective buffer; 0: the default of haichi
  Cycles cycles = Cycles::overlapping;
  bool share = true;  ///< ranks of a node have memory in common
  mpiio::Choice thread = mpiio::Choice::automatic;
  mpiio::Choice streams = mpiio::Choice::automatic;  ///< one message per node and aggregator
  mpiio::Holes holes = mpiio::Holes::automatic;
};

using Value = std::variant<int64_t, std::string>;

struct Parameter {
  std::string_view name;  ///< of the option, without its dashes, and of the key of a sweep
  std::string_view type;  ///< of its values: words separated by |, or N, SIZE, FILE
  std::string_view help;
  /// Fails with EINVAL and says what the parameter takes.
  Status (*assign)(Parameters& parameters, const Parameter& self, const std::string& value);
  Value (*value)(const Parameters& parameters, const Parameter& self);
};

/// The table of all.
std::span<const Parameter> parameters();

/// The words of its type.
std::vector<std::string> words_of(const Parameter& parameter);

/// The one of that name, or null.
const Parameter* find_parameter(std::string_view name);

}  // namespace haichi::patterns
