// The time of a recorded program, by its sequence of calls and a machine's measured costs.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "machine/profile.h"
#include "placement/placement.h"
#include "predict/engine.h"
#include "record/record.h"

namespace haichi::predict {

struct Wish {
  /// Where the ranks are to be, in place of where they were.
  std::optional<placement::Placement> placement;
  double compute_scale = 1;
  /// By which all-to-alls and all-gathers go, in place of the library's. Nobody measured it, so the
  /// interval holds what comes out with its messages as they are and as the library's were.
  std::optional<collectives::Candidate> exchange;
};

struct Prediction {
  Outcome outcome;            ///< by the middle of each interval of the machine's
  double low_s = 0;           ///< with all messages at the low ends of theirs
  double high_s = 0;          ///< and at the high ends
  bool has_interval = false;  ///< the machine has intervals at all
  int nodes = 0;
  std::vector<std::string> notes;  ///< of the record, and what was assumed
};

/// Fails with EINVAL and a line if nothing can be said: no sequence of a rank, a placement of
/// another number of ranks. What keeps ranks from their ends is in outcome.problems.
Result<Prediction> predict(const record::Record& record, const machine::Profile& profile,
                           const Wish& wish = {});

}  // namespace haichi::predict
