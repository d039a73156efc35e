// The simulated executor: runs the schedules of all ranks on a machine that is not there, and says
// when each of them is done.
//
// Why: whether an order of messages or a placement pays on 64 or 4096 nodes can be answered before
// anybody has them, with the very schedules that the real executor runs. It keeps the rules of
// "Schedules" in docs/notes.md. What takes time, and what is left out, is in
// docs/guide/simulation.md, "The model".
//
// PURE: no MPI, no clock, no environment, no file.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "placement/placement.h"
#include "plan/schedule.h"
#include "sim/options.h"
#include "sim/time.h"

namespace haichi::sim {

struct Outcome {
  std::vector<Time> start;    ///< of each rank
  std::vector<Time> finish;   ///< of each rank: all of its own messages are through
  int64_t messages = 0;       ///< received
  int64_t bytes = 0;          ///< of them
  int64_t network_bytes = 0;  ///< of those from node to node
  int64_t file_bytes = 0;     ///< read and written
  int64_t events = 0;         ///< that the simulator handled
};

/// Runs schedules[r] for all ranks r of the placement to the end. Schedules are used up.
///
/// Fails, naming a rank, with
///   EDEADLK   no rank can go on
///   EMSGSIZE  a send and its receive differ in size
///   EPROTO    messages that nobody received are left at the end
///   EINVAL    peer or offset out of range, negative size, not one schedule a rank, no such network
///   ENOTSUP   a step that accesses the file, and the machine has no servers
Result<Outcome> simulate(const placement::Placement& placement, const Machine& machine,
                         const std::vector<plan::Schedule*>& schedules,
                         const Options& options = {});

}  // namespace haichi::sim
