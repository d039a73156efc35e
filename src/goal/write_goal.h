// A record as GOAL, the text that LogGOPSim (Hoefler, Schneider and Lumsdaine 2010) and ATLAHS
// simulate: operations of each rank and what each requires.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "base/result.h"
#include "record/record.h"

namespace haichi::goal {

/// What became of the record.
struct Written {
  uint64_t operations = 0;
  std::vector<std::string> notes;  ///< what was left out, a line each
};

/// Writes the sequences of all ranks, unrolled, as GOAL has no loops: computing in nanoseconds,
/// messages, and collectives as messages (goal/messages.h). What is left out is what a replay
/// leaves out (replay/plan.h). Receives from any rank get the messages that nobody else receives,
/// from their senders in turn. A pair of communicator and tag becomes one tag.
///
/// Fails with EINVAL if the record has no sequences, EFBIG if there would be more than `most`
/// calls, and with the error of writing.
Result<Written> write_goal(const record::Record& record, FILE* out, uint64_t most = 100'000'000);

}  // namespace haichi::goal
