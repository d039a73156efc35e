#include "mpi/access/two_phase_call.h"

#include <errno.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.h"
#include "generated/real.h"
#include "mpi/access/agreement.h"
#include "mpi/access/exchange_tuning.h"
#include "mpi/access/told_parts.h"
#include "mpi/compat/handles.h"
#include "mpi/requests/executor.h"
#include "mpiio/storage/collective_buffer.h"
#include "mpiio/twophase/domains_by_bytes.h"
#include "mpiio/twophase/node_streams.h"
#include "mpiio/twophase/occupied.h"
#include "mpiio/twophase/two_phase_schedule.h"

namespace haichi::mpi {
namespace {

using mpiio::Direction;

/// A read-modify-write would undo what the MPI library writes meanwhile for a request of the
/// program. See "Nonblocking writes of the library" in docs/notes.md.
mpiio::Holes holes_to_leave(const FileState& state, Direction direction, bool library_writes,
                            report::CallRecord& record) {
  if (direction == Direction::read || !library_writes) return state.options.holes();
  if (state.rank == 0)
    record.why.emplace_back(
        "pieces are written one by one: nonblocking writes of the MPI library may be under way");
  return mpiio::Holes::separate;
}

void describe(report::CallRecord& record, const FileState& state, const mpiio::TwoPhasePlan& plan) {
  if (state.rank != 0 || !listed(state, record)) return;
  for (const int rank : plan.aggregators.ranks)
    record.aggregators.push_back(state.world_rank[size_t(rank)]);
  record.layout = name_of(state.options.two_phase().layout);
  record.order = name_of(plan.order);
  record.window = plan.max_outstanding;
  record.cycles = plan.domains.cycles();
  record.min_internode_bytes = plan.min_internode_bytes;
  record.why.insert(record.why.end(), plan.why.begin(), plan.why.end());
}

/// The two phases. Returns this rank's error as an errno value.
int exchange_and_access(FileState& state, const CollectiveCall& call, const Request& request,
                        const mpiio::TwoPhasePlan& plan, const mpiio::AccessList& others,
                        mpiio::Holes holes, int64_t slot, report::CallRecord& record,
                        CallTrace& trace) {
  std::optional<mpiio::NodeStreams> planned;
  if (plan.stream_part > 0) planned.emplace(state.placement, plan);
  const FileMemory::Windows windows = state.memory.windows(plan, planned ? &*planned : nullptr);
  const mpiio::NodeStreams* const streams = windows.streaming ? &*planned : nullptr;
  if (!windows.refusal.empty())
    state.runtime.note(fmt::format("{}: {}; they send messages", state.path, windows.refusal));
  if (windows.meeting && state.rank == 0)
    record.why.emplace_back("ranks and aggregators of one node share memory: copies, no messages");
  if (plan.stream_part > 0 && !windows.streaming && state.rank == 0)
    record.why.emplace_back("but every rank sends its own: a node has no memory in common");
  mpiio::TwoPhaseSchedule schedule(state.placement, plan, state.rank, request.access, others,
                                   windows.meeting != nullptr, streams);
  mpiio::AggregatorFile file = state.aggregator_file();
  file.slot = slot;
  if (call.direction == mpiio::Direction::write && schedule.my_aggregator() >= 0)
    state.note_descriptor_written();
  Runtime::BorrowedWorker worker;  // outlives the buffers, which wait for it
  if (plan.file_thread && schedule.my_aggregator() >= 0) worker = state.runtime.borrow_worker();
  mpiio::CollectiveBuffer buffers({.plan = &plan,
                                   .my_aggregator = schedule.my_aggregator(),
                                   .own = &request.access,
                                   .others = &others,
                                   .windows = windows.of_aggregator,
                                   .streams = streams,
                                   .stream_memory = windows.streams,
                                   .placement = &state.placement,
                                   .rank = state.rank,
                                   .memory = static_cast<std::byte*>(call.memory),
                                   .memory_pattern = request.memory,
                                   .file = file,
                                   .holes = holes,
                                   .worker = worker.get(),
                                   .record = CallTrace::record_phase,
                                   .record_context = &trace});
  Executor executor(state.comm, 0, &trace, windows.meeting, state.waiting());
  const Status ran = executor.run_or_abort(schedule, buffers, call.name, state.path);
  record.windows_whole = buffers.totals().whole;
  record.windows_separate = buffers.totals().separate;
  record.windows_rmw = buffers.totals().rmw;
  return noted(state, {&ran, &buffers.status()});
}

/// The plan where every rank knows what each other one announced; `announced` gets the accesses
/// that it took into account.
Result<mpiio::TwoPhasePlan> plan_from_all(FileState& state, mpiio::TwoPhaseOptions options,
                                          mpiio::Direction direction, const Agreement& agreed,
                                          const mpiio::Demand& together, const mpiio::Access& own,
                                          int64_t limit, std::vector<mpiio::Access>& announced) {
  // What the others want is looked at where it decides something, else by aggregators.
  if (mpiio::may_go_by_bytes(state.placement, options) || mpiio::may_be_sparse(together)) {
    auto decoded = announced_accesses(agreed.all, limit);
    if (!decoded) return tl::unexpected(decoded.error());
    announced = std::move(*decoded);
  }
  const auto told = tell_parts(state, options, direction, together, agreed, own);
  if (!told) return tl::unexpected(told.error());
  std::vector<mpiio::RankDemand> demands;
  for (size_t r = 0; r < agreed.all.size(); ++r) {
    const Announcement& a = agreed.all[r];
    const bool known = !announced.empty() && !announced[r].empty();
    demands.push_back({{a.hull_begin, std::min(a.hull_end, limit)},
                       a.bytes,
                       a.blocks,
                       known ? &announced[r] : nullptr,
                       &(*told)[r]});
  }
  return mpiio::plan_two_phase(state.placement, options, direction, demands);
}

mpiio::TwoPhasePlan plan_from_sums(const FileState& state, const mpiio::TwoPhaseOptions& options,
                                   mpiio::Direction direction, mpiio::Demand together,
                                   int64_t limit) {
  together.hull.end = std::min(together.hull.end, limit);
  if (together.hull.empty()) together.hull = {};
  return mpiio::plan_two_phase(state.placement, options, direction, together);
}

/// Carries the access out as planned. Returns an errno value, or 0.
int transfer(FileState& state, const CollectiveCall& call, Request& request,
             const Announcement& own, const Agreement& agreed, const AccessSummary& summary,
             mpiio::TwoPhaseOptions options, TunedAccess& tuning, mpiio::TwoPhasePlan& plan,
             report::CallRecord& record, CallTrace& trace) {
  const int64_t limit =
      call.direction == Direction::read ? std::max<int64_t>(0, agreed.file_size) : INT64_MAX;
  options.buffer = std::min(options.buffer, agreed.window);
  std::vector<mpiio::Access> announced;
  request.access.clip(limit);
  auto planned = agreed.by_nodes
                     ? plan_from_sums(state, options, call.direction, summary.demand, limit)
                     : plan_from_all(state, options, call.direction, agreed, summary.demand,
                                     request.access, limit, announced);
  if (!planned) return noted(state, planned.error());
  plan = *std::move(planned);
  tuning.choose(plan, agreed.tunings, summary.demand.bytes);
  describe(record, state, plan);
  if (!agreed.by_nodes && announced.empty() && state.options.aggregates(state.rank)) {
    auto decoded = announced_accesses(agreed.all, limit);
    if (!decoded) return noted(state, decoded.error());
    announced = std::move(*decoded);
  }
  auto others = collect_accesses(state, plan, agreed, own, announced, request.access);
  if (!others) return noted(state, others.error());
  int64_t told = 0;
  for (mpiio::Access& access : others->accesses()) {
    access.clip(limit);
    told += access.empty() ? 0 : access.footprint();
  }
  state.note_others(told);
  const mpiio::Holes holes = holes_to_leave(state, call.direction, summary.library_writes, record);
  return exchange_and_access(state, call, request, plan, *others, holes, summary.slot, record,
                             trace);
}

/// What the ranks agree on when an exchange is over.
struct Worst {
  int code;              ///< of all ranks: what failed on an aggregator failed for those whose
                         ///< bytes it had
  int64_t elapsed_ns;    ///< of the slowest rank, in the call
  int64_t exchanged_ns;  ///< the same since the ranks met: who came late does not count
  int64_t file_ns;       ///< of the slowest aggregator, in the file
};

Worst agree_on_outcome(FileState& state, const Worst& own, CallTrace& trace) {
  using Numbers = std::array<int64_t, 4>;
  const Numbers mine = {own.code, own.elapsed_ns, own.exchanged_ns, own.file_ns};
  Numbers worst = mine;
  const int64_t begin_ns = now_ns();
  if (NodeBoard* const board = state.group->board(state.waiting())) {
    std::vector<Numbers> all(size_t(state.placement.ranks()));
    board->allgather(&mine, sizeof mine, all.data());
    for (const auto& each : all)
      for (size_t i = 0; i < worst.size(); ++i) worst[i] = std::max(worst[i], each[i]);
  } else if (real().Allreduce(mine.data(), worst.data(), int(mine.size()), handles().int64,
                              handles().op_max, state.comm) != MPI_SUCCESS) {
    worst[0] = std::max<int64_t>(worst[0], EIO);
  }
  trace.add(trace::Phase::agree, 0, begin_ns, now_ns(), 0);
  return {int(worst[0]), worst[1], worst[2], worst[3]};
}

/// Empty if every rank can take part.
std::string objection(const Agreement& agreed) {
  if (agreed.window > 0) return "";
  for (size_t r = 0; r < agreed.all.size(); ++r)
    if (agreed.all[r].window == 0)
      return fmt::format("rank {} of the file lacks memory or cannot open the file", r);
  return "a rank of the file lacks memory or cannot open the file";
}

}  // namespace

CollectiveOutcome run_two_phase(FileState& state, const CollectiveCall& call, Request& request,
                                const AccessSummary& summary, bool balanced,
                                report::CallRecord& record, CallTrace& trace) {
  const int64_t begin_ns = now_ns();
  TunedAccess tuning(state);
  mpiio::MeasuredCosts& costs = state.group->costs[int(call.direction)];
  mpiio::TwoPhaseOptions options = state.options.two_phase();
  options.chosen = &state.options.aggregators();
  options.costs = costs.costs();
  options.balanced = balanced;
  // Whether there is memory is found out before the ranks depend on each other.
  const int64_t window = state.memory.affordable_window(
      state.options.aggregates(state.rank), request.access.end() - request.access.begin(),
      mpiio::buffer_needed(state.placement, options, summary.demand.hull));
  Announcement own = announce(state, call.direction, request.access, window);
  own.tuning = tuning.announced();
  const auto agreed = agree(state, own);
  const int64_t met_ns = now_ns();
  trace.add(trace::Phase::agree, 0, begin_ns, met_ns, 0);
  const std::string why_not = agreed ? objection(*agreed) : agreed.error().text;
  if (!why_not.empty()) {
    record.why.push_back(why_not);
    state.runtime.note(fmt::format("{}: {} passed through: {}", state.path, call.name, why_not));
    return {};
  }
  record.handled = true;
  mpiio::TwoPhasePlan plan;
  const int code =
      transfer(state, call, request, own, *agreed, summary, options, tuning, plan, record, trace);
  const int64_t end_ns = now_ns();
  const Worst worst =
      agree_on_outcome(state, {code, end_ns - begin_ns, end_ns - met_ns, trace.file_ns()}, trace);
  record.elapsed_ns = worst.elapsed_ns;
  if (worst.code == 0) {
    tuning.took(worst.exchanged_ns);
    costs.took(plan, worst.exchanged_ns, worst.file_ns);
  }
  return {.taken = true,
          .error = error_class_of(worst.code),
          .bytes = request.access.end() - request.access.begin()};
}

}  // namespace haichi::mpi
