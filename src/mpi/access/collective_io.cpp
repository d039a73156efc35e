#include "mpi/access/collective_io.h"

#include <new>

#include "base/clock.h"
#include "base/log.h"
#include "generated/real.h"
#include "mpi/access/access_summary.h"
#include "mpi/access/call_trace.h"
#include "mpi/access/own_part_io.h"
#include "mpi/access/two_phase_call.h"
#include "mpi/compat/library_file_io.h"
#include "mpi/job/abort_job.h"
#include "mpiio/ways/way_cost.h"

namespace haichi::mpi {
namespace {

using mpiio::Direction;
using mpiio::Way;

/// Why the call is the library's on all ranks, or empty.
std::string objection(const Request& own, const Result<AccessSummary>& summary) {
  if (!own.refusal.empty()) return own.refusal;
  if (!summary) return summary.error().text;
  if (!summary->can) return "another rank of the file cannot take the call";
  if (!summary->same_hints) return "the ranks of the file have different hints";
  return "";
}

void describe(report::CallRecord& record, const FileState& state, const AccessSummary& summary,
              const mpiio::WayChoice& choice) {
  if (state.rank != 0 || !listed(state, record)) return;
  record.bytes = summary.demand.bytes;
  record.file_begin = summary.demand.hull.begin;
  record.file_end = summary.demand.hull.end;
  std::string text = text_of(choice, state.placement, summary.demand);
  if (const std::string_view why = state.group->ways.why(); !why.empty())
    text.append(": ").append(why);
  record.why.push_back(std::move(text));
}

/// The way of an access that all ranks can take: the model's choice, corrected by what accesses of
/// its shape took.
mpiio::WayChoice choose(FileState& state, const CollectiveCall& call,
                        const AccessSummary& summary) {
  mpiio::TwoPhaseOptions options = state.options.two_phase();
  options.chosen = &state.options.aggregators();
  options.knows_parts = !state.runtime.works_by_nodes(state.placement.ranks());
  const mpiio::Demand& demand = summary.demand;
  const bool may_be_library = state.options.may_be_library();
  const bool split = call.form == AccessForm::split;
  const mpiio::LibraryFileIo library = library_file_io().in_access(split);
  const mpiio::WayChoice model =
      choose_way(state.placement, options, call.direction, demand, library, may_be_library);
  const mpiio::CostsOfWays costs = [&] {
    return way_costs(state.placement, options, call.direction, demand, library, model,
                     may_be_library);
  };
  if (call.form == AccessForm::ordered || !may_be_corrected(model, costs)) return model;
  const uint64_t key = uint64_t(summary.hints) * 2 + uint64_t(split);
  return state.group->ways.choose(call.direction, demand, key, model, costs);
}

/// Whether ranks may fill holes while each accesses the file alone. Where their parts interleave,
/// so do the holes: each would wait for the others.
bool may_fill(const FileState& state, const AccessSummary& summary) {
  return summary.some_fill && !summary.library_writes &&
         state.options.holes() == mpiio::Holes::automatic && summary.demand.apart();
}

/// Each rank for itself; an error is the rank's own. Nobody waits for another, unless somebody
/// fills holes, in `slot`: then all stay until that is done, and nobody writes into them meanwhile.
CollectiveOutcome access_alone(FileState& state, const CollectiveCall& call, Request& request,
                               std::optional<int64_t> slot, CallTrace& trace) {
  int code = 0;
  if (call.direction == Direction::read && !request.access.empty())
    code = clip_at_end(state, request.access);
  if (code == 0) {
    const Status done = transfer_own_part(state, call, request, slot.value_or(-1), trace);
    code = noted(state, {&done});
  }
  if (slot) real().Barrier(state.comm);
  return {.taken = true,
          .error = error_class_of(code),
          .bytes = request.access.end() - request.access.begin()};
}

/// As the last accesses that the ranks agreed about went, without a word. What this rank cannot do
/// is the library's, which waits for nobody either.
CollectiveOutcome access_unasked(MPI_File file, FileState& state, const CollectiveCall& call) {
  report::CallRecord record = begin_record(state, call.name);
  const int64_t begin_ns = now_ns();
  Request request = request_of(
      file, state, call,
      state.has_descriptor() ? state.options.refusal(call.direction) : std::string(kNoDescriptor));
  CollectiveOutcome outcome;
  if (request.refusal.empty()) {
    CallTrace trace(state, record);
    outcome = access_alone(state, call, request, std::nullopt, trace);
    if (!call.offset) move_pointer(state, request, outcome.bytes);
  } else {
    record.why.push_back(request.refusal);
  }
  record.handled = outcome.taken;
  record.bytes = request.access.end() - request.access.begin();
  record.elapsed_ns = now_ns() - begin_ns;
  keep_record(state, std::move(record));
  return outcome;
}

/// Ranks need not agree about accesses that go so again and again.
bool waits_for_nobody(const mpiio::WayChoice& choice) {
  return choice.way == Way::library || choice.reason == mpiio::WayReason::split;
}

/// Carries the access out, or finds that it is the library's.
CollectiveOutcome carry_out(FileState& state, const CollectiveCall& call, Request& request,
                            const AccessSummary& summary, report::CallRecord& record,
                            CallTrace& trace) {
  const mpiio::WayChoice choice = choose(state, call, summary);
  describe(record, state, summary, choice);
  WayTrials& ways = state.group->ways;
  mpiio::Doze& doze = state.doze_of(call.form, call.direction);
  // While the library's way is a trial, or calls of it pay for one, what they take has to be told.
  // Of ordered accesses run_ordered keeps count.
  if (call.form != AccessForm::ordered) {
    if (!waits_for_nobody(choice))
      doze.end();
    else if (ways.settled())
      doze.longer(summary.longest_doze);
  }
  ways.begin(now_ns());
  CollectiveOutcome outcome;
  if (choice.way == Way::alone)
    outcome =
        access_alone(state, call, request,
                     may_fill(state, summary) ? std::optional(summary.slot) : std::nullopt, trace);
  else if (choice.way != Way::library)
    outcome =
        run_two_phase(state, call, request, summary, choice.way == Way::balanced, record, trace);
  outcome.timed = choice.way == Way::library;
  if (outcome.taken && outcome.error == MPI_SUCCESS) ways.end(now_ns());
  return outcome;
}

CollectiveOutcome run_or_leave(MPI_File file, FileState& state, const CollectiveCall& call) {
  come_to_access(state, call.direction);
  if (state.handed_back) return {};
  mpiio::Doze& refused = state.refused[int(call.direction)];
  const bool asleep =
      call.form != AccessForm::ordered && state.doze_of(call.form, call.direction).goes_on();
  // What the library leaves to each rank needs no word of the others, whichever of both does it.
  const bool alone =
      asleep && library_file_io().in_access(call.form == AccessForm::split).splits_alone;
  const bool unasked = asleep || refused.goes_on();
  if (unasked) state.group->pace.slept();
  if (unasked && !alone) return {};
  Result<std::string> mode = mode_refusal(file, state, call.direction);
  if (mode && !mode->empty()) {
    state.runtime.note(fmt::format("{}: {} passed through: {}", state.path, call.name, *mode));
    record_left(state, call.name, *std::move(mode));
    // Until the mode is another one (forget_refusals).
    refused.longer();
    return {};
  }
  if (alone) return access_unasked(file, state, call);
  report::CallRecord record = begin_record(state, call.name);
  const int64_t begin_ns = now_ns();
  Request request = request_of(file, state, call,
                               mode ? state.options.refusal(call.direction) : mode.error().text);
  CallTrace trace(state, record);
  const auto summary = summarize(state, request, call.direction);
  trace.add(trace::Phase::agree, 0, begin_ns, now_ns(), 0);
  CollectiveOutcome outcome;
  if (summary) {
    state.take_agreed(summary->all_off, summary->striping);
    state.group->ways.agreed(summary->last_ns);
  }
  if (const std::string why_not = objection(request, summary); !why_not.empty()) {
    record.why.push_back(why_not);
    if (summary) refused.longer(summary->longest_doze);
    if (request.refusal.empty())
      state.runtime.note(fmt::format("{}: {} passed through: {}", state.path, call.name, why_not));
  } else {
    outcome = carry_out(state, call, request, *summary, record, trace);
    refused.end();
  }
  record.handled = outcome.taken;
  if (!outcome.taken) record.bytes = request.access.end() - request.access.begin();
  if (record.elapsed_ns == 0) record.elapsed_ns = now_ns() - begin_ns;
  if (outcome.taken && !call.offset) move_pointer(state, request, outcome.bytes);
  keep_record(state, std::move(record));
  return outcome;
}

}  // namespace

void come_to_access(FileState& state, Direction direction) {
  state.backlog.finish();
  if (direction == Direction::write) state.note_writer();
}

// Out of memory: the other ranks wait for this one's part in agreeing or for its messages, so the
// job ends, with a word, instead of hanging.
CollectiveOutcome run_collective(MPI_File file, FileState& state, const CollectiveCall& call) try {
  if (state.observes()) return {};
  const CollectiveOutcome outcome = [&] {
    const Turn turn = state.take_turn();
    return run_or_leave(file, state, call);
  }();
  if (!outcome.taken && !call.offset) state.pointer.hand_over(file);
  return outcome;
} catch (const std::bad_alloc&) {
  log(LogLevel::error, "{}: out of memory in the middle of {}; the job ends", state.path,
      call.name);
  abort_job(kOutOfMemoryExit);
  return {.taken = true, .error = MPI_ERR_NO_MEM, .bytes = 0};
}

}  // namespace haichi::mpi
