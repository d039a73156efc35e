#include "mpi/collective_io.h"

#include <errno.h>

#include <algorithm>
#include <new>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/agreement.h"
#include "mpi/compat/handles.h"
#include "mpi/datatype.h"
#include "mpi/executor.h"
#include "mpiio/collective_buffer.h"
#include "mpiio/direct.h"

namespace haichi::mpi {
namespace {

using mpiio::Direction;

// Exit code of a job that ran out of memory, EX_OSERR of sysexits.h.
constexpr int kOutOfMemoryExit = 71;

/// What this rank wants of the call, or why it cannot be taken.
struct Request {
  std::string refusal;
  mpiio::Access access;
  mpiio::PatternPtr memory = mpiio::Pattern::block(0);
  int64_t position = 0;  ///< in the view's bytes
  int64_t window = 0;    ///< largest collective buffer that this rank can do with
};

int error_class_of(int code) {
  switch (code) {
    case 0:
      return MPI_SUCCESS;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    default:
      return MPI_ERR_IO;
  }
}

Request unguarded_request_of(MPI_File file, FileState& state, const CollectiveCall& call) {
  Request request;
  auto refuse = [&](std::string why) {
    request.refusal = std::move(why);
    return request;
  };
  request.refusal = state.refusal(call.direction);
  if (!request.refusal.empty()) return request;
  int atomic = 0;
  if (real().File_get_atomicity(file, &atomic) != MPI_SUCCESS || atomic)
    return refuse("the file is in atomic mode");
  if (call.count < 0 || (call.offset && *call.offset < 0))
    return refuse("an argument is out of range");
  const auto shape = decode_type(call.type);
  if (!shape) return refuse(shape.error().text);
  int64_t bytes, reach;
  if (__builtin_mul_overflow(call.count, shape->size(), &bytes) ||
      __builtin_mul_overflow(call.count, std::abs(shape->extent), &reach))
    return refuse("the access is larger than 64-bit numbers");
  if (bytes % state.etype_size != 0) return refuse("the access is not a whole number of etypes");
  MPI_Offset offset = call.offset.value_or(0);
  if (!call.offset && real().File_get_position(file, &offset) != MPI_SUCCESS)
    return refuse("the MPI library does not tell the file position");
  request.position = offset * state.etype_size;
  if (!state.view.sorted(request.position, request.position + bytes))
    return refuse("the view's bytes overlap or are not in ascending order");
  request.memory = mpiio::Pattern::loop(shape->pattern, call.count, shape->extent);
  request.access = mpiio::Access(state.view, request.position, bytes);
  request.window = state.affordable_window(bytes);
  if (request.window == 0) return refuse("there is not enough memory");
  return request;
}

/// Memory that runs out here makes the call pass through; later it would make others wait.
Request request_of(MPI_File file, FileState& state, const CollectiveCall& call) {
  try {
    return unguarded_request_of(file, state, call);
  } catch (const std::bad_alloc&) {
    Request request;
    request.refusal = "there is not enough memory to decode the access";
    return request;
  }
}

/// Collects one call's trace; the recorder and the record are the file's.
class CallTrace : public ExecutionObserver {
 public:
  CallTrace(FileState& state, CallRecord& record) : state_(state), record_(record) {}

  void exchanged(const ExchangeRecord& e) override {
    add(trace::Phase::exchange, e.round, e.begin_ns, e.end_ns, e.bytes_sent);
  }
  void moved(int peer, int64_t bytes) override {
    const placement::Placement& world = state_.runtime.world;
    const int from = world.node_of(state_.runtime.rank);
    const int to = world.node_of(state_.world_rank[size_t(peer)]);
    (from == to ? record_.bytes_inside : record_.bytes_between) += bytes;
    const std::lock_guard guard(state_.runtime.mutex);
    state_.runtime.recorder.sent(to, bytes);
  }
  void add(trace::Phase phase, int64_t cycle, int64_t begin_ns, int64_t end_ns, int64_t bytes) {
    const int64_t start = state_.runtime.start_ns;
    const std::lock_guard guard(state_.runtime.mutex);
    state_.runtime.recorder.add(
        {record_.event_call, int32_t(cycle), phase, begin_ns - start, end_ns - start, bytes});
  }
  static void record_phase(void* context, trace::Phase phase, int64_t cycle, int64_t begin_ns,
                           int64_t end_ns, int64_t bytes) {
    static_cast<CallTrace*>(context)->add(phase, cycle, begin_ns, end_ns, bytes);
  }

 private:
  FileState& state_;
  CallRecord& record_;
};

/// Empty if every rank can take the call and has the same hints.
std::string objection(const std::vector<Announcement>& all) {
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].window == 0) return fmt::format("rank {} of the file cannot take the call", r);
    if (all[r].options != all[0].options)
      return fmt::format("ranks 0 and {} of the file have different hints", r);
  }
  return "";
}

int64_t end_of_file(const std::vector<Announcement>& all) {
  int64_t size = 0;
  for (const Announcement& a : all) size = std::max(size, a.file_size);
  return size;
}

void describe(CallRecord& record, const FileState& state, const mpiio::TwoPhasePlan& plan,
              const std::vector<Announcement>& all) {
  if (state.rank != 0) return;
  plan::Extent hull{INT64_MAX, 0};
  for (const Announcement& a : all) {
    if (a.hull_begin >= a.hull_end) continue;
    record.bytes += a.bytes;
    hull.begin = std::min(hull.begin, a.hull_begin);
    hull.end = std::max(hull.end, a.hull_end);
  }
  if (hull.empty()) hull = {};
  record.file_begin = hull.begin;
  record.file_end = hull.end;
  for (const int rank : plan.aggregators.ranks)
    record.aggregators.push_back(state.world_rank[size_t(rank)]);
  record.layout = name_of(state.options().layout);
  record.order = name_of(plan.order);
  record.window = plan.window;
  record.cycles = plan.domains.cycles();
  record.why = plan.why;
}

int noted(FileState& state, const Error& error) {
  state.runtime.note(fmt::format("{}: {}", state.path, error.text));
  return error.code;
}

/// The first failure, noted, as an errno value; 0 if there is none.
int first_failure(FileState& state, std::initializer_list<const Status*> statuses) {
  for (const Status* status : statuses)
    if (!*status) return noted(state, status->error());
  return 0;
}

/// Every rank accesses the file itself. Returns this rank's error as an errno value.
int access_directly(FileState& state, const CollectiveCall& call, const Request& request,
                    CallTrace& trace) {
  // Larger parts would leave the processor's cache between being packed and being written.
  constexpr int64_t kBounce = 1 << 20;
  mpiio::DirectSchedule schedule(call.direction, request.access.end() - request.access.begin());
  mpiio::DirectBuffers buffers(
      {.own = &request.access,
       .memory = static_cast<std::byte*>(call.memory),
       .memory_pattern = request.memory,
       .file = state.aggregator_file(),
       .bounce = std::span(state.own_memory(), size_t(std::min(kBounce, request.window))),
       .record = CallTrace::record_phase,
       .record_context = &trace});
  const Status ran = Executor(state.comm, 0, &trace).run(schedule, buffers);
  return first_failure(state, {&ran, &buffers.status()});
}

/// The two phases. Returns this rank's error as an errno value.
int exchange_and_access(FileState& state, const CollectiveCall& call, const Request& request,
                        const mpiio::TwoPhasePlan& plan, const std::vector<mpiio::Access>& others,
                        CallRecord& record, CallTrace& trace) {
  const FileState::Windows windows = state.windows(plan);
  if (windows.meeting && state.rank == 0)
    record.why.emplace_back("ranks and aggregators of one node share memory: copies, no messages");
  mpiio::TwoPhaseSchedule schedule(state.placement, plan, state.rank, request.access, others,
                                   windows.meeting != nullptr);
  mpiio::CollectiveBuffer buffers({.plan = &plan,
                                   .my_aggregator = schedule.my_aggregator(),
                                   .own = &request.access,
                                   .others = &others,
                                   .windows = windows.of_aggregator,
                                   .memory = static_cast<std::byte*>(call.memory),
                                   .memory_pattern = request.memory,
                                   .file = state.aggregator_file(),
                                   .holes = state.holes(),
                                   .record = CallTrace::record_phase,
                                   .record_context = &trace});
  const Status ran = Executor(state.comm, 0, &trace, windows.meeting).run(schedule, buffers);
  record.windows_whole = buffers.totals().whole;
  record.windows_separate = buffers.totals().separate;
  record.windows_rmw = buffers.totals().rmw;
  return first_failure(state, {&ran, &buffers.status()});
}

/// Carries the access out as planned. Returns this rank's error as an errno value.
int transfer(FileState& state, const CollectiveCall& call, Request& request,
             const std::vector<Announcement>& all, CallRecord& record, CallTrace& trace) {
  const int64_t limit = call.direction == Direction::read ? end_of_file(all) : INT64_MAX;
  mpiio::TwoPhaseOptions options = state.options();
  std::vector<mpiio::RankDemand> demands;
  const auto announced = announced_accesses(all, limit);
  if (!announced) return noted(state, announced.error());
  for (size_t r = 0; r < all.size(); ++r) {
    const Announcement& a = all[r];
    options.buffer = std::min(options.buffer, a.window);
    demands.push_back({{a.hull_begin, std::min(a.hull_end, limit)},
                       a.bytes,
                       a.blocks,
                       a.has_file != 0,
                       (*announced)[r].empty() ? nullptr : &(*announced)[r]});
  }
  request.access.clip(limit);
  const mpiio::TwoPhasePlan plan =
      mpiio::plan_two_phase(state.placement, options, call.direction, demands);
  describe(record, state, plan, all);
  if (plan.direct) return access_directly(state, call, request, trace);
  auto others = collect_accesses(state, plan, all, *announced, request.access);
  if (!others) return noted(state, others.error());
  for (mpiio::Access& access : *others) access.clip(limit);
  return exchange_and_access(state, call, request, plan, *others, record, trace);
}

/// Out of memory in the middle of an exchange: the other ranks wait for this one's messages, so the
/// job ends, with a word, instead of hanging.
int transfer_or_abort(FileState& state, const CollectiveCall& call, Request& request,
                      const std::vector<Announcement>& all, CallRecord& record, CallTrace& trace) {
  try {
    return transfer(state, call, request, all, record, trace);
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "{}: out of memory in the middle of {}; the job ends", state.path,
        call.name);
    real().Abort(handles().comm_world, kOutOfMemoryExit);
    return ENOMEM;
  }
}

void move_pointer(MPI_File file, const FileState& state, const Request& request, int64_t bytes) {
  const MPI_Offset next = (request.position + bytes) / state.etype_size;
  real().File_seek(file, next, MPI_SEEK_SET);
}

}  // namespace

CollectiveOutcome run_collective(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  CallRecord record;
  record.index = state.record.calls_seen++;
  record.call = call.name;
  const int64_t begin_ns = now_ns();
  Request request = request_of(file, state, call);
  if (!request.refusal.empty())
    state.runtime.note(
        fmt::format("{}: {} passed through: {}", state.path, call.name, request.refusal));
  {
    const std::lock_guard runtime_guard(state.runtime.mutex);
    record.event_call = state.runtime.calls_traced++;
  }
  CallTrace trace(state, record);
  CollectiveOutcome outcome;
  const auto all = agree(state, announce(state, request.access, request.window));
  trace.add(trace::Phase::agree, 0, begin_ns, now_ns(), 0);
  const std::string why_not = all ? objection(*all) : all.error().text;
  if (why_not.empty()) {
    outcome.taken = record.handled = true;
    const int code = transfer_or_abort(state, call, request, *all, record, trace);
    int64_t mine[2] = {code, now_ns() - begin_ns};
    int64_t worst[2] = {mine[0], mine[1]};
    const int64_t agree_ns = now_ns();
    if (real().Allreduce(mine, worst, 2, handles().int64, handles().op_max, state.comm) !=
        MPI_SUCCESS)
      worst[0] = std::max<int64_t>(worst[0], EIO);
    trace.add(trace::Phase::agree, 0, agree_ns, now_ns(), 0);
    record.elapsed_ns = worst[1];
    outcome.error = error_class_of(int(worst[0]));
    outcome.bytes = request.access.end() - request.access.begin();
    if (!call.offset) move_pointer(file, state, request, outcome.bytes);
  } else {
    record.elapsed_ns = now_ns() - begin_ns;
    record.bytes = request.access.end() - request.access.begin();
    record.why.push_back(request.refusal.empty() ? why_not : request.refusal);
    if (request.refusal.empty())
      state.runtime.note(fmt::format("{}: {} passed through: {}", state.path, call.name, why_not));
  }
  if (state.record.calls.size() < kMaxCallsListed) state.record.calls.push_back(std::move(record));
  return outcome;
}

}  // namespace haichi::mpi
