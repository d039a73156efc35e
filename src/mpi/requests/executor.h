// The real executor: runs a schedule with MPI point-to-point messages on haichi's own communicator.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mpi/compat/waiting.h"
#include "plan/paced_steps.h"
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

/// How messages are given to the MPI library where they are no bytes of haichi's buffers.
class BlockMessages {
 public:
  virtual ~BlockMessages() = default;
  /// Issues the message of a send or a receive. Returns an MPI error code.
  virtual int issue(const plan::Step& step, MPI_Request* request) = 0;
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
  /// For issue() alone.
  explicit Executor(BlockMessages& blocks);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Fails only if the MPI library refuses a message; failures of the file are the buffers' affair.
  /// With EMSGSIZE if a message was longer than what its receiver gave: then all steps were
  /// carried out, since other ranks wait for what they send.
  Status run(plan::Schedule& schedule, plan::Buffers& buffers);
  /// The same where the other ranks would wait for this one's messages for ever, and nobody else
  /// tells them: if the MPI library refuses one, the job ends, with a word that says `what` was
  /// done, and on which file, if on one.
  Status run_or_abort(plan::Schedule& schedule, plan::Buffers& buffers, std::string_view what,
                      std::string_view path = {});

  /// Issues all messages of a schedule that has nothing else but a wait at its end, which is left
  /// to the caller: `requests` are the messages', in the order of their issue. Returns an MPI error
  /// code; after an error those before it are under way.
  int issue(plan::Schedule& schedule, std::vector<MPI_Request>& requests);

 private:
  struct Transfer;
  Status run_steps(plan::Schedule& schedule);
  Status take(const plan::Step& step);
  void abandon();
  /// Puts the send off if there is something to be done before it is waited for.
  Status start_send(const plan::Step& step);
  Status send(const plan::Step& step, std::byte* data);
  Status receive(const plan::Step& step);
  /// `data` is not looked at where messages are blocks.
  Status issue_message(const plan::Step& step, std::byte* data, Transfer transfer);
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
  BlockMessages* const blocks_ = nullptr;
  ExecutionObserver* const observer_;
  NodeMeeting* const meeting_;
  const Waiting waiting_;
  bool arrived_ = false;  // at a meeting that this rank has not waited for
  plan::Buffers* buffers_ = nullptr;
  std::vector<MPI_Request> requests_;  // parallel to transfers_
  std::vector<Transfer> transfers_;
  std::optional<plan::PacedSteps> steps_;  // of the schedule that runs
  int refused_ = MPI_SUCCESS;              // what the MPI library said to the last message
  std::vector<int> indices_;               // scratch of Testsome
  std::vector<MPI_Status> statuses_;       // the same
  bool truncated_ = false;                 // a message was, in this run
  std::deque<ExchangeRecord> exchanges_;   // of the rounds whose end has not come, ascending
};

}  // namespace haichi::mpi
