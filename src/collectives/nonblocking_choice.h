// Which algorithm a nonblocking exchange takes: by rule, without trials.
//
// Two things decide. haichi has no thread: between the program's calls nothing of it runs, so only
// an algorithm that issues all its messages at once may be taken. And the ranks cannot agree on
// anything without waiting for one another, which a nonblocking call must not: so the choice
// follows from what all of them know. See docs/adr/0015-nonblocking-exchanges.md.
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/algorithm.h"

namespace haichi::collectives {

/// What all ranks know of a call.
struct NonblockingQuestion {
  std::string_view wanted = "auto";  ///< the setting collectives.algorithm
  int64_t block = -1;                ///< bytes, if all blocks are equal; else -1
  /// Up to so many bytes the MPI library's own nonblocking algorithm needs fewer messages.
  int64_t fewer_messages_up_to = 0;
  /// Above so many bytes it keeps the ranks in step, which takes less time than all at once.
  int64_t out_of_step_up_to = INT64_MAX;
};

struct NonblockingChoice {
  std::optional<Candidate> candidate;  ///< nothing: the MPI library's own
  std::string_view why;
  /// "library", or as Candidate::text().
  std::string text() const { return candidate ? candidate->text() : "library"; }
};

NonblockingChoice choose_nonblocking(const NonblockingQuestion& question);

}  // namespace haichi::collectives
