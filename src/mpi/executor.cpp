#include "mpi/executor.h"

#include <errno.h>
#include <sched.h>

#include <utility>

#include "base/clock.h"
#include "generated/real.h"
#include "mpi/backoff.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

using plan::Step;

namespace {

constexpr int kNobodysTag = 99;  // no message has it: probing for it only makes progress
// How a rank waits for its node before it sleeps.
constexpr int kSpins = 64;
constexpr int kYields = 4;
// Most bytes that lie packed for messages that are under way, unless a single one has more: what a
// network holds is less, and a collective buffer can be much more.
constexpr int64_t kMostPacked = 1 << 20;

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
  const int64_t now = now_ns();
  while (!exchanges_.empty() && exchanges_.front().round <= round) {
    exchanges_.front().end_ns = now;
    if (observer_) observer_->exchanged(exchanges_.front());
    exchanges_.pop_front();
    // Messages of two rounds are under way at a time; in the record each moment is of one of them.
    if (!exchanges_.empty()) exchanges_.front().begin_ns = now;
  }
}

Status Executor::start_send(const Step& step) {
  Transfer transfer;
  transfer.is_send = true;
  transfer.round = step.round;
  transfer.slice = step.from;
  std::byte* data = buffers_->contiguous(step.from);
  if (data == nullptr) {
    const int64_t size = step.from.size;
    const auto room = [&] { return packed_ == 0 || packed_ + size <= kMostPacked; };
    if (auto done = wait_until(room); !done) return done;
    packed_ += size;
    transfer.staging = staging(size);
    data = transfer.staging.get();
    buffers_->gather(step.from, data);
  }
  MPI_Request request;
  if (real().Isend(data, int(step.from.size), handles().byte, step.peer, tag_, comm_, &request) !=
      MPI_SUCCESS)
    return fail(EIO, "the MPI library refused to send {} bytes to rank {}", step.from.size,
                step.peer);
  requests_.push_back(request);
  transfers_.push_back(std::move(transfer));
  ++sends_;
  record_of(step).bytes_sent += step.from.size;
  if (observer_) observer_->moved(step.peer, step.from.size, step.round);
  return {};
}

Status Executor::start_receive(const Step& step) {
  return standing_back_.hold(step) ? Status{} : post(step);
}

Status Executor::post_rest() {
  while (!standing_back_.empty())
    if (auto done = post(standing_back_.take()); !done) return done;
  return {};
}

Status Executor::post(const Step& step) {
  Transfer transfer;
  transfer.round = step.round;
  transfer.slice = step.to;
  std::byte* data = buffers_->contiguous(step.to);
  // Straight into place, unless another message's bytes may have to win there.
  if (data != nullptr && !buffers_->order_free(step.to)) data = nullptr;
  if (data == nullptr) {
    transfer.staging = staging(step.to.size);
    data = transfer.staging.get();
  }
  MPI_Request request;
  if (real().Irecv(data, int(step.to.size), handles().byte, step.peer, tag_, comm_, &request) !=
      MPI_SUCCESS)
    return fail(EIO, "the MPI library refused to receive {} bytes from rank {}", step.to.size,
                step.peer);
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
    --sends_;
    if (transfer.staging) packed_ -= transfer.slice.size;
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
  if (done()) return {};
  if (auto posted = post_rest(); !posted) return posted;
  Backoff backoff;
  while (!done()) {
    bool any;
    if (auto moved = progress(any); !moved) return moved;
    any ? backoff.reset() : backoff.idle();
  }
  return {};
}

Status Executor::wait(int64_t round) {
  if (auto posted = post_rest(); !posted) return posted;
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
  standing_back_.clear();
  sends_ = 0;
  packed_ = 0;
  exchanges_.clear();
}

Status Executor::run(plan::Schedule& schedule, plan::Buffers& buffers) {
  const Status done = run_steps(schedule, buffers);
  if (!done) abandon();
  return done;
}

Status Executor::run_steps(plan::Schedule& schedule, plan::Buffers& buffers) {
  buffers_ = &buffers;
  truncated_ = false;
  const int window = schedule.max_outstanding();
  Step step;
  while (schedule.next(step)) {
    Status done;
    if (standing_back_.due_before(step)) done = post_rest();
    if (!done) return done;
    switch (step.kind) {
      case Step::Kind::round:
        buffers.start_round(step.round);
        break;
      case Step::Kind::send:
        record_of(step);
        if (window > 0) done = wait_until([&] { return sends_ < window; });
        if (done) done = start_send(step);
        break;
      case Step::Kind::receive:
        record_of(step);
        done = start_receive(step);
        break;
      case Step::Kind::copy:
        record_of(step);
        copy(step);
        break;
      case Step::Kind::file_read:
        buffers.read_file(step.to, step.file_begin);
        break;
      case Step::Kind::file_write:
        buffers.write_file(step.from, step.file_begin);
        break;
      case Step::Kind::file_wait:
        done = wait_until([&] { return buffers.file_done(); });
        break;
      case Step::Kind::wait:
        done = wait(step.round);
        break;
      case Step::Kind::node_meet:
        meet();
        break;
      case Step::Kind::node_arrive:
        meeting_->arrive();
        arrived_ = true;
        break;
      case Step::Kind::node_tell:
        buffers.tell_node(step.cell, step.number);
        break;
      case Step::Kind::node_sum:
        *step.sum = buffers.node_sum(step.cell);
        break;
    }
    if (!done) return done;
  }
  if (auto done = wait(INT64_MAX); !done) return done;
  if (truncated_) return fail(EMSGSIZE, "a message was longer than what its receiver gave");
  return {};
}

}  // namespace haichi::mpi
