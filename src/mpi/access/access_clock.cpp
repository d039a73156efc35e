#include "mpi/access/access_clock.h"

#include <new>

#include "base/clock.h"
#include "generated/real.h"
#include "mpi/access/call_trace.h"
#include "mpi/communicators/argument_checks.h"
#include "mpi/files/file_log.h"
#include "mpi/types/kept_types.h"

namespace haichi::mpi {
namespace {

/// What the program gives or wants; 0 if its arguments do not say.
int64_t bytes_of(const CollectiveCall& call) {
  if (call.count < 0 || (!find_named(call.type) && !usable(call.type))) return 0;
  MPI_Count size;
  int64_t bytes;
  if (real().Type_size_x(call.type, &size) != MPI_SUCCESS || size < 0 ||
      __builtin_mul_overflow(call.count, int64_t(size), &bytes))
    return 0;
  return bytes;
}

}  // namespace

AccessClock::AccessClock(FileState& state, const CollectiveCall& call)
    : state_(state), call_(&call), begin_ns_(state.runtime.reports ? now_ns() : 0) {
  if (!state.runtime.reports) return;
  const std::lock_guard guard(state.mutex);
  first_record_ = state.record.calls_seen;
}

AccessClock::AccessClock(FileState& state)
    : state_(state), begin_ns_(state.runtime.reports ? now_ns() : 0) {}

AccessClock::~AccessClock() {
  if (!state_.runtime.reports) return;
  const int64_t end_ns = now_ns(), elapsed_ns = end_ns - begin_ns_;
  try {
    const int64_t bytes = call_ ? bytes_of(*call_) : 0;
    {
      const std::lock_guard guard(state_.runtime.mutex);
      report::CollectiveAccesses& all = state_.runtime.accesses;
      all.calls += call_ != nullptr;
      all.elapsed_ns += elapsed_ns;
      all.bytes += bytes;
      if (call_) state_.runtime.mpi_bytes[int(call_->direction)] += bytes;
    }
    if (call_ && state_.observes()) {
      report::CallRecord record = begin_record(state_, call_->name);
      record.bytes = bytes;
      record.elapsed_ns = elapsed_ns;
      if (state_.rank == 0) record.why.push_back("observed: io.enable is observe");
      keep_record(state_, std::move(record));
    } else if (call_) {
      complete_record(elapsed_ns);
    }
    log_calls(state_, end_ns);
  } catch (const std::bad_alloc&) {
    // The report is short of a call then, and the program has what it asked for.
  }
}

void AccessClock::complete_record(int64_t elapsed_ns) {
  const std::lock_guard guard(state_.mutex);
  auto& calls = state_.record.calls;
  for (auto record = calls.rbegin(); record != calls.rend(); ++record) {
    if (record->index < first_record_) return;
    if (!record->handled && !record->behind && record->call == call_->name) {
      record->elapsed_ns = elapsed_ns;
      return;
    }
  }
}

}  // namespace haichi::mpi
