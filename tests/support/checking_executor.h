// The checking executor: runs the schedules of all ranks in one process, with real bytes and no
// time, and refuses everything that a real MPI run could suffer from.
//
// Why: an algorithm is proved right over thousands of shapes without a cluster. It follows the
// rules of "Schedules" in docs/notes.md to the letter, and where they leave MPI a choice it draws
// one: which rank moves next, whether a send completes at once (eager) or when its receive is
// posted (rendezvous), when received bytes turn up. The same seed gives the same run on every
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "plan/schedule.h"

namespace haichi::test {

/// When a send is complete. A real MPI decides by size, and by how much memory is left.
enum class Completion {
  eager,       ///< at once: the bytes are those at the send's issue
  rendezvous,  ///< when the receive is posted: the bytes are those at that time
  either,      ///< drawn for every message
};
inline constexpr Completion kCompletions[] = {Completion::rendezvous, Completion::eager,
                                              Completion::either};

struct CheckOptions {
  uint64_t seed = 0;
  Completion completion = Completion::rendezvous;
  /// Each rank's node, for schedules with node_meet; empty: none has one.
  std::vector<int> nodes = {};
};

/// What a run did.
struct CheckTally {
  int64_t steps = 0;
  int64_t messages = 0;
  int64_t bytes = 0;         ///< of all messages
  int most_outstanding = 0;  ///< largest number of sends that one rank had outstanding
};

/// Runs schedules[r] on buffers[r] for all ranks r to the end. Schedules are used up.
///
/// Fails, naming ranks and steps (counted from 0 per rank), with
///   EDEADLK   no rank can go on
///   EMSGSIZE  a send and its receive, or the two sides of a copy, differ in size
///   EPROTO    messages that nobody received are left at the end; a round begins while messages of
///             more than one round are outstanding; a rank meets its node with some outstanding, or
///             accesses the file while its last access is not waited for
///   EINVAL    peer out of range, negative size, copy between overlapping bytes, two receives
///             outstanding into the same bytes, contiguous() and gather() disagree
Status run_checked(const std::vector<plan::Schedule*>& schedules,
                   const std::vector<plan::Buffers*>& buffers, const CheckOptions& options = {},
                   CheckTally* tally = nullptr);

}  // namespace haichi::test
