#include "mpi/collective_io.h"

#include <errno.h>

#include <algorithm>
#include <new>
#include <optional>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/agreement.h"
#include "mpi/call_trace.h"
#include "mpi/compat/handles.h"
#include "mpi/end_job.h"
#include "mpi/exchange_tuning.h"
#include "mpi/executor.h"
#include "mpi/own_part_io.h"
#include "mpiio/collective_buffer.h"
#include "mpiio/domains_by_bytes.h"
#include "mpiio/node_streams.h"

namespace haichi::mpi {
namespace {

using mpiio::Direction;

/// Empty if every rank can take the call and has the same hints.
std::string objection(const std::vector<Announcement>& all) {
  for (size_t r = 0; r < all.size(); ++r) {
    if (all[r].window == 0) return fmt::format("rank {} of the file cannot take the call", r);
    if (all[r].options != all[0].options)
      return fmt::format("ranks 0 and {} of the file have different hints", r);
  }
  return "";
}

/// A read-modify-write would undo what the MPI library writes meanwhile for a request of the
/// program. See "Nonblocking writes of the library" in docs/notes.md.
mpiio::Holes holes_to_leave(const FileState& state, Direction direction,
                            const std::vector<Announcement>& all, CallRecord& record) {
  const bool under_way = std::any_of(all.begin(), all.end(),
                                     [](const Announcement& a) { return a.library_writes != 0; });
  if (direction == Direction::read || !under_way) return state.holes();
  if (state.rank == 0)
    record.why.emplace_back(
        "pieces are written one by one: nonblocking writes of the MPI library may be under way");
  return mpiio::Holes::separate;
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
  record.must_cross = plan.must_cross;
  record.why = plan.why;
}

/// The two phases. Returns this rank's error as an errno value.
int exchange_and_access(FileState& state, const CollectiveCall& call, const Request& request,
                        const mpiio::TwoPhasePlan& plan, const std::vector<mpiio::Access>& others,
                        mpiio::Holes holes, CallRecord& record, CallTrace& trace) {
  const FileState::Windows windows = state.windows(plan);
  if (windows.meeting && state.rank == 0)
    record.why.emplace_back("ranks and aggregators of one node share memory: copies, no messages");
  if (plan.stream_part > 0 && !windows.streaming && state.rank == 0)
    record.why.emplace_back("but every rank sends its own: a node has no memory in common");
  std::optional<mpiio::NodeStreams> streams;
  if (windows.streaming) streams.emplace(state.placement, plan, state.rank, windows.streams);
  mpiio::TwoPhaseSchedule schedule(state.placement, plan, state.rank, request.access, others,
                                   windows.meeting != nullptr, streams ? &*streams : nullptr);
  Runtime::BorrowedWorker worker;  // outlives the buffers, which wait for it
  if (plan.file_thread && schedule.my_aggregator() >= 0) worker = state.runtime.borrow_worker();
  mpiio::CollectiveBuffer buffers({.plan = &plan,
                                   .my_aggregator = schedule.my_aggregator(),
                                   .own = &request.access,
                                   .others = &others,
                                   .windows = windows.of_aggregator,
                                   .streams = streams ? streams->areas() : nullptr,
                                   .placement = &state.placement,
                                   .memory = static_cast<std::byte*>(call.memory),
                                   .memory_pattern = request.memory,
                                   .file = state.aggregator_file(),
                                   .holes = holes,
                                   .worker = worker.get(),
                                   .record = CallTrace::record_phase,
                                   .record_context = &trace});
  const Status ran = Executor(state.comm, 0, &trace, windows.meeting).run(schedule, buffers);
  record.windows_whole = buffers.totals().whole;
  record.windows_separate = buffers.totals().separate;
  record.windows_rmw = buffers.totals().rmw;
  return noted(state, {&ran, &buffers.status()});
}

/// What became of the access on this rank.
struct Carried {
  int code;            ///< an errno value, or 0
  bool alone = false;  ///< no rank depended on another
};

/// Carries the access out as planned.
Carried transfer(FileState& state, const CollectiveCall& call, Request& request,
                 const std::vector<Announcement>& all, TunedAccess& tuning, CallRecord& record,
                 CallTrace& trace) {
  const int64_t limit = call.direction == Direction::read ? end_of_file(all) : INT64_MAX;
  mpiio::TwoPhaseOptions options = state.options();
  std::vector<mpiio::RankDemand> demands;
  // What the others want is looked at where it decides something, else by aggregators, below.
  const bool by_bytes = mpiio::may_go_by_bytes(state.placement, options);
  Result<std::vector<mpiio::Access>> announced(all.size());
  if (by_bytes) announced = announced_accesses(all, limit);
  if (!announced) return {noted(state, announced.error())};
  for (size_t r = 0; r < all.size(); ++r) {
    const Announcement& a = all[r];
    options.buffer = std::min(options.buffer, a.window);
    demands.push_back({{a.hull_begin, std::min(a.hull_end, limit)},
                       a.bytes,
                       a.blocks,
                       a.sieved,
                       a.has_file != 0,
                       (*announced)[r].empty() ? nullptr : &(*announced)[r]});
  }
  request.access.clip(limit);
  mpiio::TwoPhasePlan plan =
      mpiio::plan_two_phase(state.placement, options, call.direction, demands);
  tuning.choose(plan, all);
  describe(record, state, plan, all);
  if (plan.direct) {
    const Status done = transfer_own_part(state, call, request, trace);
    return {noted(state, {&done}), true};
  }
  if (!by_bytes && state.is_aggregator()) announced = announced_accesses(all, limit);
  if (!announced) return {noted(state, announced.error())};
  auto others = collect_accesses(state, plan, all, *announced, request.access);
  if (!others) return {noted(state, others.error())};
  int64_t told = 0;
  for (mpiio::Access& access : *others) {
    access.clip(limit);
    told += access.empty() ? 0 : access.footprint();
  }
  state.record.flattening.others_bytes = std::max(state.record.flattening.others_bytes, told);
  const mpiio::Holes holes = holes_to_leave(state, call.direction, all, record);
  return {exchange_and_access(state, call, request, plan, *others, holes, record, trace)};
}

/// Out of memory in the middle of an exchange: the other ranks wait for this one's messages, so the
/// job ends, with a word, instead of hanging.
Carried transfer_or_abort(FileState& state, const CollectiveCall& call, Request& request,
                          const std::vector<Announcement>& all, TunedAccess& tuning,
                          CallRecord& record, CallTrace& trace) {
  try {
    return transfer(state, call, request, all, tuning, record, trace);
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "{}: out of memory in the middle of {}; the job ends", state.path,
        call.name);
    end_job(kOutOfMemoryExit);
    return {ENOMEM};
  }
}

/// What the ranks agree on when an exchange is over.
struct Worst {
  int code;              ///< of all ranks: what failed on an aggregator failed for those whose
                         ///< bytes it had
  int64_t elapsed_ns;    ///< of the slowest rank, in the call
  int64_t exchanged_ns;  ///< the same since the ranks met: who came late does not count
};

Worst agree_on_outcome(FileState& state, const Worst& own, CallTrace& trace) {
  const int64_t mine[3] = {own.code, own.elapsed_ns, own.exchanged_ns};
  int64_t worst[3] = {mine[0], mine[1], mine[2]};
  const int64_t begin_ns = now_ns();
  if (real().Allreduce(mine, worst, 3, handles().int64, handles().op_max, state.comm) !=
      MPI_SUCCESS)
    worst[0] = std::max<int64_t>(worst[0], EIO);
  trace.add(trace::Phase::agree, 0, begin_ns, now_ns(), 0);
  return {int(worst[0]), worst[1], worst[2]};
}

/// Sees that there is memory for the exchange before the ranks depend on each other.
void give_window(FileState& state, Request& request) {
  request.window = state.affordable_window(request.access.end() - request.access.begin());
  if (request.window > 0) return;
  request.refusal = "there is not enough memory";
  state.runtime.note(fmt::format("{}: passed through: {}", state.path, request.refusal));
}

}  // namespace

CollectiveOutcome run_collective(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  CallRecord record = begin_record(state, call.name);
  const int64_t begin_ns = now_ns();
  // Every rank does this before it tells the others that it has come, and adds nothing meanwhile.
  // So no read-modify-write of an aggregator can undo what a thread of another rank writes.
  state.backlog.finish();
  Request request = request_of(file, state, call, state.refusal(call.direction));
  if (request.refusal.empty()) give_window(state, request);
  CallTrace trace(state, record);
  CollectiveOutcome outcome;
  TunedAccess tuning(state);
  Announcement own = announce(state, request.access, request.window);
  own.tuning = tuning.announced();
  const auto all = agree(state, own);
  const int64_t met_ns = now_ns();
  trace.add(trace::Phase::agree, 0, begin_ns, met_ns, 0);
  const std::string why_not = all ? objection(*all) : all.error().text;
  if (why_not.empty()) {
    outcome.taken = record.handled = true;
    const auto [code, alone] = transfer_or_abort(state, call, request, *all, tuning, record, trace);
    const int64_t end_ns = now_ns();
    Worst worst = {code, end_ns - begin_ns, end_ns - met_ns};
    if (!alone) worst = agree_on_outcome(state, worst, trace);
    record.elapsed_ns = worst.elapsed_ns;
    if (worst.code == 0) tuning.took(worst.exchanged_ns);
    outcome.error = error_class_of(worst.code);
    outcome.bytes = request.access.end() - request.access.begin();
    if (!call.offset) move_pointer(file, state, request, outcome.bytes);
  } else {
    record.elapsed_ns = now_ns() - begin_ns;
    record.bytes = request.access.end() - request.access.begin();
    record.why.push_back(request.refusal.empty() ? why_not : request.refusal);
    if (request.refusal.empty())
      state.runtime.note(fmt::format("{}: {} passed through: {}", state.path, call.name, why_not));
  }
  keep_record(state, std::move(record));
  return outcome;
}

}  // namespace haichi::mpi
