#include "collectives/nonblocking_choice.h"

namespace haichi::collectives {
namespace {

/// True if the schedule issues all its messages before it waits for any.
bool issues_all_at_once(const Candidate& candidate) {
  return candidate.algorithm->takes == Takes::order_and_window && candidate.parameters.window == 0;
}

}  // namespace

NonblockingChoice choose_nonblocking(const NonblockingQuestion& question) {
  if (question.wanted == "library") return {std::nullopt, "collectives.algorithm says so"};
  if (question.wanted == "auto") {
    if (question.block >= 0 && question.block <= question.fewer_messages_up_to)
      return {std::nullopt, "by rule: for blocks as small as these it needs fewer messages"};
    if (question.block > question.out_of_step_up_to)
      return {std::nullopt, "by rule: for blocks as large as these it keeps the ranks in step"};
    return {*parse_candidate("spread(nd_rank_shift,0)"),
            "by rule: all messages at once, other nodes first"};
  }
  const auto named = parse_candidate(question.wanted);
  if (named && issues_all_at_once(*named)) return {*named, "collectives.algorithm says so"};
  return {std::nullopt, "what collectives.algorithm names would have to wait in the call"};
}

}  // namespace haichi::collectives
