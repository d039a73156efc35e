// The real executor: runs a schedule with MPI point-to-point messages on haichi's own communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/result.h"
#include "mpi/compat/waiting.h"
#include "plan/large_receives.h"
#include "plan/schedule.h"

namespace haichi::mpi {

/// What one run of a schedule moved, and when each round was exchanging.
struct ExchangeRecord {
  int64_t round = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t bytes_sent = 0;
};

/// Told of what happens while a schedule runs.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void exchanged(const ExchangeRecord& record) = 0;
  /// `bytes` left this rank for `peer` of the communicator; a copy within the rank counts too.
  virtual void moved(int peer, int64_t bytes, int64_t round) = 0;
};

/// Where the ranks of a node meet (the steps node_arrive and node_meet).
class NodeMeeting {
 public:
  virtual ~NodeMeeting() = default;
  /// Says that this rank has come; call once for each meeting.
  virtual void arrive() = 0;
  /// True once all ranks of the node have come to the meeting that this rank last arrived at.
  virtual bool all_here() = 0;
  /// Sleeps until that is so, or for some hundred microseconds.
  virtual void sleep() = 0;
};

/// Until all ranks of the node have come to the meeting that this rank arrived at. Gets on with the
/// MPI library's messages on `comm` meanwhile.
void wait_for_node(NodeMeeting& meeting, MPI_Comm comm);

/// Runs one schedule at a time. Messages between two ranks match in the order of their issue (one
/// tag), see "Schedules" in docs/notes.md. Not thread-safe; the communicator is used by nobody
/// else.
class Executor {
 public:
  /// `meeting` is for schedules with node_meet; it may be null for others.
  /// `waiting`: in_the_library is for schedules that wait for nothing but messages.
  Executor(MPI_Comm comm, int tag, ExecutionObserver* observer, NodeMeeting* meeting = nullptr,
           Waiting waiting = Waiting::polling);
  ~Executor();

  /// Fails only if the MPI library refuses a message; failures of the file are the buffers' affair.
  /// With EMSGSIZE if a message was longer than what its receiver gave: then all steps were
  /// carried out, since other ranks wait for what they send.
  Status run(plan::Schedule& schedule, plan::Buffers& buffers);

 private:
  struct Transfer;
  Status run_steps(plan::Schedule& schedule, plan::Buffers& buffers);
  void abandon();
  Status start_send(const plan::Step& step);
  Status start_receive(const plan::Step& step);
  Status post(const plan::Step& receive);
  /// Posts the receives that stand back.
  Status post_rest();
  void copy(const plan::Step& step);
  Status progress(bool& any);
  bool only_truncated(int code, int done);
  void finish(Transfer& transfer);
  /// Progresses until `done()`.
  template <class Done>
  Status wait_until(Done&& done);
  /// Until all messages of `round` and of earlier rounds are complete and in place.
  Status wait(int64_t round);
  void meet();
  ExchangeRecord& record_of(const plan::Step& step);
  void finish_records(int64_t round);
  std::unique_ptr<std::byte[]> staging(int64_t size);

  const MPI_Comm comm_;
  const int tag_;
  ExecutionObserver* const observer_;
  NodeMeeting* const meeting_;
  const Waiting waiting_;
  bool arrived_ = false;  // at a meeting that this rank has not waited for
  plan::Buffers* buffers_ = nullptr;
  std::vector<MPI_Request> requests_;  // parallel to transfers_
  std::vector<Transfer> transfers_;
  plan::LargeReceives standing_back_;     // of one round: transfers are in order of their rounds
  std::vector<int> indices_;              // scratch of Testsome
  std::vector<MPI_Status> statuses_;      // the same
  bool truncated_ = false;                // a message was, in this run
  int sends_ = 0;                         // outstanding
  int64_t packed_ = 0;                    // bytes of those of them that had to be packed
  std::deque<ExchangeRecord> exchanges_;  // of the rounds whose end has not come, ascending
};

}  // namespace haichi::mpi
