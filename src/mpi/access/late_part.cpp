#include "mpi/access/late_part.h"

#include <errno.h>

#include <atomic>
#include <new>

#include "base/clock.h"
#include "generated/real.h"
#include "mpi/access/call_trace.h"
#include "mpi/access/own_part_io.h"
#include "mpi/files/file_table.h"
#include "mpi/files/outcome.h"
#include "mpi/requests/operations.h"
#include "mpi/requests/own_request.h"

namespace haichi::mpi {
namespace {

class LatePart : public Operation {
 public:
  LatePart(MPI_File file, const std::shared_ptr<FileState>& state, const CollectiveCall& call,
           Request wanted, const report::CallRecord& record)
      : file_(file),
        state_(state),
        call_(call),
        wanted_(std::move(wanted)),
        record_(record),
        times_(record.behind) {}

  /// Of memory, until it is done.
  int64_t footprint() const {
    return int64_t(sizeof *this) + wanted_.memory->footprint() + wanted_.access.footprint();
  }
  int64_t write_end() const {
    return call_.direction == mpiio::Direction::write ? wanted_.access.hull().end : 0;
  }
  void set_task(const TaskQueue& tasks, TaskQueue::Ticket ticket) {
    tasks_ = &tasks;
    ticket_ = ticket;
  }

  /// The thread's. `state` lives: nobody closes a file, or ends MPI, before its backlog is done.
  void carry_out(FileState& state) {
    const int64_t begin_ns = now_ns();
    try {
      CallTrace trace(state, record_);
      const Status done = transfer_own_part(state, call_, wanted_, -1, trace);
      code_ = noted(state, {&done});
    } catch (const std::bad_alloc&) {
      code_ = ENOMEM;
    }
    wanted_ = {};  // the request may stay open for long
    times_->ran_ns = now_ns() - begin_ns;
  }

  Progress advance() override {
    return tasks_->done(ticket_) ? Progress::complete : Progress::none;
  }
  void looked_after(int64_t ns) override { times_->waited_ns += ns; }
  bool needs_nobody() const override { return true; }
  bool failed() const override { return code_ != 0; }
  int tell_failure() override {
    const CollectiveOutcome outcome{.taken = true, .error = error_class_of(code_), .bytes = 0};
    const auto state = state_.lock();
    const bool open = state && FileTable::get().find(file_) == state;
    return open ? give_outcome(file_, outcome, MPI_STATUS_IGNORE) : outcome.error;
  }

 private:
  const MPI_File file_;
  const std::weak_ptr<FileState> state_;
  const CollectiveCall call_;
  Request wanted_;
  report::CallRecord record_;
  const std::shared_ptr<report::BehindTimes> times_;
  const TaskQueue* tasks_ = nullptr;
  TaskQueue::Ticket ticket_ = 0;
  std::atomic<int> code_ = 0;  // an errno value
};

}  // namespace

int start_late_part(MPI_File file, const std::shared_ptr<FileState>& state,
                    const CollectiveCall& call, Request wanted, TaskQueue& tasks,
                    report::CallRecord& record, MPI_Request* request) {
  const int64_t bytes = wanted.access.end() - wanted.access.begin();
  record.behind = std::make_shared<report::BehindTimes>();
  const auto part = std::make_shared<LatePart>(file, state, call, std::move(wanted), record);
  RequestAnswer* answer = nullptr;
  if (const int code = start_request(answer, request); code != MPI_SUCCESS) return code;
  const MPI_Request own = *request;
  const TaskQueue::Ticket ticket = state->backlog.add(
      tasks, [part, on = state.get()] { part->carry_out(*on); }, part->footprint(),
      part->write_end());
  part->set_task(tasks, ticket);
  answer->ended = [own] { forget_operation(own); };
  open_operation(part, own, [part, answer, own, bytes] {
    // Of a request that is freed before its part is done nobody asks.
    answer->bytes = part->failed() ? 0 : bytes;
    real().Grequest_complete(own);
  });
  return MPI_SUCCESS;
}

}  // namespace haichi::mpi
