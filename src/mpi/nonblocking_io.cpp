#include "mpi/nonblocking_io.h"

#include <errno.h>

#include "base/clock.h"
#include "base/os.h"
#include "mpi/call_trace.h"
#include "mpi/own_part_io.h"

namespace haichi::mpi {
namespace {

using mpiio::Direction;

int64_t size_of(const mpiio::Access& access) { return access.end() - access.begin(); }

/// Cuts a read at the end of the file as it is now. Returns an errno value.
int clip_at_end(FileState& state, mpiio::Access& access) {
  const mpiio::AggregatorFile file = state.aggregator_file();
  struct stat facts;
  if (const int done = file.os->fstat(file.fd, &facts); done < 0) return -done;
  access.clip(facts.st_size);
  return 0;
}

void describe(CallRecord& record, const FileState& state, const CollectiveCall& call,
              const Request& request) {
  const plan::Extent hull = request.access.hull();
  record.handled = true;
  record.bytes = size_of(request.access);
  record.file_begin = hull.begin;
  record.file_end = hull.end;
  if (state.rank != 0) return;
  record.why.push_back("each rank for itself, at once: a nonblocking collective waits for nobody");
  if (reads_by_sieving(call, request))
    record.why.push_back("small pieces are read through windows");
  else if (call.direction == Direction::write)
    record.why.push_back("every piece is written by itself: no other rank's bytes are touched");
}

}  // namespace

bool leave_to_library(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  std::string why = state.common_refusal(call.direction);
  if (!state.nonblocking_too)
    why = "not taken since the file was opened: switched off, or a rank cannot open it itself";
  else if (why.empty() && in_atomic_mode(file))
    why = "the file is in atomic mode";
  if (why.empty()) return false;
  CallRecord record = begin_record(state, call.name);
  record.why.push_back(std::move(why));
  keep_record(state, std::move(record));
  return true;
}

CollectiveOutcome run_own_part(MPI_File file, FileState& state, const CollectiveCall& call) {
  const std::lock_guard guard(state.mutex);
  CallRecord record = begin_record(state, call.name);
  const int64_t begin_ns = now_ns();
  Request request = request_of(file, state, call, state.view_refusal());
  const bool reading = call.direction == Direction::read;
  CollectiveOutcome outcome;
  if (request.refusal.empty()) {
    int code = reading ? clip_at_end(state, request.access) : 0;
    CallTrace trace(state, record);
    if (code == 0) {
      const Status done = transfer_own_part(state, call, request, trace);
      code = noted(state, {&done});
    }
    outcome = {true, error_class_of(code), size_of(request.access)};
    describe(record, state, call, request);
    if (!call.offset) move_pointer(file, state, request, outcome.bytes);
  } else {
    record.why.push_back(request.refusal);
  }
  record.elapsed_ns = now_ns() - begin_ns;
  keep_record(state, std::move(record));
  return outcome;
}

}  // namespace haichi::mpi
