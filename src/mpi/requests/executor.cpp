#include "mpi/requests/executor.h"

#include <errno.h>
#include <sched.h>

#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/job/abort_job.h"
#include "mpi/job/backoff.h"

namespace haichi::mpi {

using plan::Step;

namespace {

constexpr int kNobodysTag = 99;  // no message has it: probing for it only makes progress
// How a rank waits for its node before it sleeps.
constexpr int kSpins = 64;
constexpr int kYields = 4;

/// Whether a rank exchanges bytes in the step.
bool exchanges(const Step& step) {
  return step.kind == Step::Kind::send || step.kind == Step::Kind::receive ||
         step.kind == Step::Kind::copy;
}

}  // namespace

// The MPI library must be called while we wait: messages that it took from us and still holds are
// what ranks of other nodes may be waiting for, and these are what our node waits for.
void wait_for_node(NodeMeeting& meeting, MPI_Comm comm) {
  for (int polls = 0; !meeting.all_here(); ++polls) {
    if (polls < kSpins) continue;
    int found;
    real().Iprobe(MPI_ANY_SOURCE, kNobodysTag, comm, &found, MPI_STATUS_IGNORE);
    // A rank that only yields takes time from those that it waits for.
    polls < kSpins + kYields ? (void)sched_yield() : meeting.sleep();
  }
}

struct Executor::Transfer {
  plan::Slice slice;
  int64_t round = 0;
  std::unique_ptr<std::byte[]> staging;  // null if the message uses the slice's own memory
  bool is_send = false;
  bool complete = false;
  bool arrived = false;  // received, waiting for its turn to be scattered
};

Executor::Executor(MPI_Comm comm, int tag, ExecutionObserver* observer, NodeMeeting* meeting,
                   Waiting waiting)
    : comm_(comm), tag_(tag), observer_(observer), meeting_(meeting), waiting_(waiting) {}

Executor::Executor(BlockMessages& blocks)
    : comm_(handles().comm_null),
      tag_(0),
      blocks_(&blocks),
      observer_(nullptr),
      meeting_(nullptr),
      waiting_(Waiting::polling) {}

Executor::~Executor() = default;

std::unique_ptr<std::byte[]> Executor::staging(int64_t size) {
  return std::unique_ptr<std::byte[]>(new std::byte[size_t(size)]);
}

ExchangeRecord& Executor::record_of(const Step& step) {
  if (exchanges_.empty() || exchanges_.back().round != step.round)
    exchanges_.push_back({step.round, now_ns(), 0, 0});
  return exchanges_.back();
}

void Executor::finish_records(int64_t round) {
  if (exchanges_.empty()) return;
  const int64_t now = now_ns();
  while (!exchanges_.empty() && exchanges_.front().round <= round) {
    exchanges_.front().end_ns = now;
    observer_->exchanged(exchanges_.front());
    exchanges_.pop_front();
    // Messages of two rounds are under way at a time; in the record each moment is of one of them.
    if (!exchanges_.empty()) exchanges_.front().begin_ns = now;
  }
}

Status Executor::start_send(const Step& step) {
  std::byte* const data = blocks_ ? nullptr : buffers_->contiguous(step.from);
  const int64_t packed = blocks_ || data ? 0 : step.from.size;
  const auto may_send = [&] { return steps_->may_send(packed); };
  if (!may_send()) {
    if (steps_->put_off(step)) return {};
    if (auto done = wait_until(may_send); !done) return done;
  }
  return send(step, data);
}

Status Executor::send(const Step& step, std::byte* data) {
  Transfer transfer;
  transfer.is_send = true;
  transfer.round = step.round;
  transfer.slice = step.from;
  if (data == nullptr && !blocks_) {
    transfer.staging = staging(step.from.size);
    data = transfer.staging.get();
    buffers_->gather(step.from, data);
  }
  const int64_t packed = transfer.staging ? step.from.size : 0;
  if (auto issued = issue_message(step, data, std::move(transfer)); !issued) return issued;
  steps_->sent(packed);
  if (observer_) {
    record_of(step).bytes_sent += step.from.size;
    observer_->moved(step.peer, step.from.size, step.round);
  }
  return {};
}

Status Executor::receive(const Step& step) {
  Transfer transfer;
  transfer.round = step.round;
  transfer.slice = step.to;
  if (blocks_) return issue_message(step, nullptr, std::move(transfer));
  std::byte* data = buffers_->contiguous(step.to);
  // Straight into place, unless another message's bytes may have to win there.
  if (data != nullptr && !buffers_->order_free(step.to)) data = nullptr;
  if (data == nullptr) {
    transfer.staging = staging(step.to.size);
    data = transfer.staging.get();
  }
  return issue_message(step, data, std::move(transfer));
}

Status Executor::issue_message(const Step& step, std::byte* data, Transfer transfer) {
  MPI_Request request = handles().request_null;
  const auto issued = [&] {
    const int size = int(transfer.slice.size);
    if (blocks_) return blocks_->issue(step, &request);
    const MPI_Datatype byte = handles().byte;
    return transfer.is_send ? real().Isend(data, size, byte, step.peer, tag_, comm_, &request)
                            : real().Irecv(data, size, byte, step.peer, tag_, comm_, &request);
  };
  refused_ = issued();
  if (refused_ != MPI_SUCCESS)
    return fail(EIO, "the MPI library refused to {} {} bytes {} rank {}",
                transfer.is_send ? "send" : "receive", transfer.slice.size,
                transfer.is_send ? "to" : "from", step.peer);
  requests_.push_back(request);
  transfers_.push_back(std::move(transfer));
  return {};
}

void Executor::copy(const Step& step) {
  if (std::byte* to = buffers_->contiguous(step.to)) {
    buffers_->gather(step.from, to);
  } else if (const std::byte* from = buffers_->contiguous(step.from)) {
    buffers_->scatter(step.to, from);
  } else {
    buffers_->copy(step.from, step.to);
  }
  if (observer_ && step.peer >= 0) observer_->moved(step.peer, step.from.size, step.round);
}

void Executor::finish(Transfer& transfer) {
  transfer.complete = true;
  if (transfer.is_send) {
    steps_->send_done(transfer.staging ? transfer.slice.size : 0);
    transfer.staging.reset();
    return;
  }
  if (!transfer.staging) return;
  if (buffers_->order_free(transfer.slice)) {
    buffers_->scatter(transfer.slice, transfer.staging.get());
    transfer.staging.reset();
  } else {
    transfer.arrived = true;
  }
}

/// True if messages failed, but none in another way than by being too long for its receiver. Open
/// MPI leaves the requests of such messages to the caller.
bool Executor::only_truncated(int code, int done) {
  const auto class_of = [](int error) {
    int found = MPI_ERR_OTHER;
    real().Error_class(error, &found);
    return found;
  };
  if (class_of(code) != MPI_ERR_IN_STATUS || done == MPI_UNDEFINED) return false;
  for (int i = 0; i < done; ++i) {
    const int error = statuses_[size_t(i)].MPI_ERROR;
    if (error == MPI_SUCCESS) continue;
    if (class_of(error) != MPI_ERR_TRUNCATE) return false;
    truncated_ = true;
    MPI_Request& request = requests_[size_t(indices_[size_t(i)])];
    if (request != handles().request_null) real().Request_free(&request);
  }
  return true;
}

Status Executor::progress(bool& any) {
  any = false;
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int done = 0;
  const auto some = waiting_ == Waiting::polling ? real().Testsome : real().Waitsome;
  const int code =
      some(int(requests_.size()), requests_.data(), &done, indices_.data(), statuses_.data());
  if (code != MPI_SUCCESS && !only_truncated(code, done))
    return fail(EIO, "a message between ranks failed");
  if (done == MPI_UNDEFINED) return {};
  for (int i = 0; i < done; ++i) finish(transfers_[size_t(indices_[size_t(i)])]);
  any = done > 0;
  return {};
}

template <class Done>
Status Executor::wait_until(Done&& done) {
  Backoff backoff;
  while (!done()) {
    bool any;
    if (auto moved = progress(any); !moved) return moved;
    any ? backoff.reset() : backoff.idle();
  }
  return {};
}

Status Executor::wait(int64_t round) {
  size_t next = 0, end = 0;  // transfers are in order of their rounds
  while (end < transfers_.size() && transfers_[end].round <= round) ++end;
  auto all_complete = [&] {
    while (next < end && transfers_[next].complete) ++next;
    return next == end;
  };
  if (auto done = wait_until(all_complete); !done) return done;
  for (size_t i = 0; i < end; ++i)
    if (transfers_[i].arrived) buffers_->scatter(transfers_[i].slice, transfers_[i].staging.get());
  requests_.erase(requests_.begin(), requests_.begin() + ptrdiff_t(end));
  transfers_.erase(transfers_.begin(), transfers_.begin() + ptrdiff_t(end));
  finish_records(round);
  return {};
}

void Executor::meet() {
  if (!std::exchange(arrived_, false)) meeting_->arrive();
  wait_for_node(*meeting_, comm_);
}

// After a refused message the MPI library may still read and write the memory of the others.
void Executor::abandon() {
  for (Transfer& transfer : transfers_) (void)transfer.staging.release();
  requests_.clear();
  transfers_.clear();
  exchanges_.clear();
}

Status Executor::run(plan::Schedule& schedule, plan::Buffers& buffers) {
  buffers_ = &buffers;
  truncated_ = false;
  Status done = run_steps(schedule);
  if (done) done = wait(INT64_MAX);
  if (!done) abandon();
  if (done && truncated_) return fail(EMSGSIZE, "a message was longer than what its receiver gave");
  return done;
}

Status Executor::run_or_abort(plan::Schedule& schedule, plan::Buffers& buffers,
                              std::string_view what, std::string_view path) {
  Status done = run(schedule, buffers);
  if (done || done.error().code == EMSGSIZE) return done;
  log(LogLevel::error, "{} in the middle of {}{}{}; the job ends", done.error().text, what,
      path.empty() ? "" : " on ", path);
  abort_job(kNoMessagesExit);
  return done;
}

int Executor::issue(plan::Schedule& schedule, std::vector<MPI_Request>& requests) {
  const Status done = run_steps(schedule);
  requests = std::move(requests_);
  abandon();
  return done ? MPI_SUCCESS : refused_;
}

Status Executor::run_steps(plan::Schedule& schedule) {
  steps_.emplace(schedule);
  Step step;
  while (steps_->next(step))
    if (auto done = take(step); !done) return done;
  return {};
}

Status Executor::take(const Step& step) {
  if (observer_ && exchanges(step)) record_of(step);
  switch (step.kind) {
    case Step::Kind::round:
      buffers_->start_round(step.round);
      return {};
    case Step::Kind::send:
      return start_send(step);
    case Step::Kind::receive:
      return receive(step);
    case Step::Kind::copy:
      copy(step);
      return {};
    case Step::Kind::file_read:
      buffers_->read_file(step.to, step.file_begin);
      return {};
    case Step::Kind::file_write:
      buffers_->write_file(step.from, step.file_begin);
      return {};
    case Step::Kind::file_wait:
      return wait_until([&] { return buffers_->file_done(); });
    case Step::Kind::wait:
      return blocks_ ? Status{} : wait(step.round);  // the only one is the one at the end
    case Step::Kind::node_meet:
      meet();
      return {};
    case Step::Kind::node_arrive:
      meeting_->arrive();
      arrived_ = true;
      return {};
    case Step::Kind::node_tell:
      buffers_->tell_node(step.cell, step.number);
      return {};
    case Step::Kind::node_sum:
      *step.sum = buffers_->node_sum(step.cell);
      return {};
  }
  return {};
}

}  // namespace haichi::mpi
