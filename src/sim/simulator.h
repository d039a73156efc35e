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
#include "sim/time.h"

namespace haichi::sim {

/// A message that was received, for whoever wants to see each.
struct MessageRecord {
  int from, to;
  int64_t bytes;
  Time arrived;   ///< its last byte is on the receiver's node
  Time complete;  ///< the receiver has matched it and has its bytes
};

/// An access of the file by a rank, from its step to its last byte.
struct AccessRecord {
  int rank;
  int64_t round;
  bool writes;
  int64_t bytes;
  Time begin, end;
};

/// When a rank exchanged for a round: from its first step to its wait.
struct ExchangeRecord {
  int rank;
  int64_t round;
  Time begin, end;
  int64_t bytes;  ///< sent and copied
};

/// Is told what happens, in the order of events.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void received(const MessageRecord&) {}
  virtual void accessed(const AccessRecord&) {}
  virtual void exchanged(const ExchangeRecord&) {}
  /// Bytes begin to leave `from` for `to`; a copy within the rank or its node counts too.
  virtual void moved(int from, int to, int64_t bytes) { (void)from, (void)to, (void)bytes; }
};

struct Options {
  uint64_t seed = 0;   ///< of skew and noise; the same seed gives the same run everywhere
  double skew_ns = 0;  ///< ranks start at times drawn evenly from 0 to this
  /// What a rank's processor does takes longer by a share drawn evenly from 0 to twice this: 0.1 is
  /// ten per cent in the mean.
  double noise = 0;
  Observer* observer = nullptr;
};

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
