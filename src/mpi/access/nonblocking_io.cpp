#include "mpi/access/nonblocking_io.h"

#include <errno.h>

#include <algorithm>

#include "base/clock.h"
#include "base/os.h"
#include "mpi/access/call_trace.h"
#include "mpi/access/late_part.h"
#include "mpi/access/own_part_io.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/library_file_io.h"
#include "mpi/files/outcome.h"
#include "mpi/requests/own_request.h"

namespace haichi::mpi {
namespace {

using mpiio::Direction;

// Other ranks may be anywhere, and write what they like unlocked.
constexpr int64_t kNoFilling = -1;

int64_t size_of(const mpiio::Access& access) { return access.end() - access.begin(); }

void describe(report::CallRecord& record, const FileState& state, const CollectiveCall& call,
              const Request& request, bool behind) {
  const plan::Extent hull = request.access.hull();
  record.handled = true;
  record.bytes = size_of(request.access);
  record.file_begin = hull.begin;
  record.file_end = hull.end;
  if (behind) record.why.push_back("a thread does it behind the program");
  if (state.rank != 0) return;
  record.why.push_back("each rank for itself, at once: a nonblocking collective waits for nobody");
  if (reads_by_sieving(call, request))
    record.why.push_back("small pieces are read through windows");
  else if (call.direction == Direction::write)
    record.why.push_back("every piece is written by itself: no other rank's bytes are touched");
}

/// Who is to carry out the call behind the program; null: nobody, it is to be done in the call.
TaskQueue* thread_for(FileState& state, const Request& request) {
  if (!state.options.wants_thread_behind() || !request.refusal.empty() || request.access.empty())
    return nullptr;
  return state.runtime.behind_program();
}

/// Carries the part out in the call. Returns an MPI error class.
int carry_out(FileState& state, const CollectiveCall& call, const Request& request,
              report::CallRecord& record) {
  state.backlog.finish();  // a hint may have ended what was done behind the program
  CallTrace trace(state, record);
  const Status done = transfer_own_part(state, call, request, kNoFilling, trace);
  return error_class_of(noted(state, {&done}));
}

/// Gives the request of a part that is done. An error comes out here and not in MPI_Wait: there the
/// library would ask the error handler of a communicator and not the file's.
int give_request(MPI_File file, const CollectiveOutcome& outcome, MPI_Request* request) {
  *request = handles().request_null;
  if (outcome.error != MPI_SUCCESS) return give_outcome(file, outcome, MPI_STATUS_IGNORE);
  return make_completed_request(outcome.bytes, request);
}

// Decided by what is the same on all ranks: settings and library, and what was agreed. A hint that
// only some ranks gave would make these wait in the library for the others.
bool library_does_it(const FileState& state) {
  const Settings& settings = state.runtime.settings;
  return settings.text("io.nonblocking") == "auto" && settings.text("io.library") == "on" &&
         library_file_io().alone_if_apart;
}

/// Why this rank leaves its part to the library's independent call, or empty.
std::string own_refusal(FileState& state) {
  if (!state.has_descriptor()) return std::string(kNoDescriptor);
  if (state.options.switched_off()) return "switched off by io.enable";
  return "";
}

}  // namespace

bool leave_to_library(MPI_File file, FileState& state, const CollectiveCall& call) {
  std::string why;
  if (state.handed_back)
    why = "every rank was told to leave the file alone";
  else if (library_does_it(state))
    why = "as the MPI library does it: each rank by itself would be slower for small pieces";
  else
    why = mode_refusal(file, state, call.direction).value_or("the file's mode is not known");
  if (why.empty()) return false;
  state.backlog.finish();
  record_left(state, call.name, std::move(why));
  return true;
}

std::optional<int> start_own_part(MPI_File file, const std::shared_ptr<FileState>& state,
                                  const CollectiveCall& call, MPI_Request* mpi_request) {
  if (call.direction == Direction::write) state->note_writer();
  report::CallRecord record = begin_record(*state, call.name);
  const int64_t begin_ns = now_ns();
  Request request = request_of(file, *state, call, own_refusal(*state));
  if (!request.refusal.empty()) {
    state->backlog.finish();
    record.why.push_back(request.refusal);
    record.elapsed_ns = now_ns() - begin_ns;
    keep_record(*state, std::move(record));
    return std::nullopt;
  }
  const int clipped = call.direction == Direction::read ? clip_at_end(*state, request.access) : 0;
  CollectiveOutcome outcome{true, error_class_of(clipped), size_of(request.access)};
  TaskQueue* const behind = clipped == 0 ? thread_for(*state, request) : nullptr;
  describe(record, *state, call, request, behind != nullptr);
  if (!call.offset) move_pointer(*state, request, outcome.bytes);
  int started = MPI_SUCCESS;
  if (behind)
    started = start_late_part(file, state, call, std::move(request), *behind, record, mpi_request);
  else if (clipped == 0)
    outcome.error = carry_out(*state, call, request, record);
  record.elapsed_ns = now_ns() - begin_ns;
  keep_record(*state, std::move(record));
  return behind ? started : give_request(file, outcome, mpi_request);
}

}  // namespace haichi::mpi
