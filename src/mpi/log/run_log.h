// The log of a run: what is there of its report if it does not come to MPI_Finalize.
// See docs/adr/0020-a-log-until-the-end.md.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include "base/settings.h"
#include "mpi/job/runtime.h"

namespace haichi::mpi {

/// Where a report is wanted: rank 0's name for it becomes that of all ranks, and their clocks start
/// together. Returns the name of the logs, the same on all ranks; empty if there are none.
/// Collective over MPI_COMM_WORLD.
std::string agree_on_report(Settings& settings, int rank);

/// Gives this rank its part of the log `name`. Rank 0 writes there at once what the job is.
void start_run_log(Runtime& runtime, const std::string& name);

/// A file is opened: makes the log, which the first call would have to wait for otherwise.
void log_open(Runtime& runtime);

/// Whether there is a log, with time to be written. `last`: nothing may come for long.
bool log_has_time(const Runtime& runtime, bool last);
/// Writes what waits, where there is a log.
void show_log(Runtime& runtime);

/// Writes what `add` adds to the log, if it has time. Takes no memory if it has none: it is asked
/// in every call of a collective.
template <class Add>
void log_with(Runtime& runtime, bool last, const Add& add) try {
  if (!log_has_time(runtime, last)) return;
  add(*runtime.rank_log);
  show_log(runtime);
} catch (const std::bad_alloc&) {
  // The log is short of it then.
}

/// The program ends its job by MPI_Abort. Takes no lock and no memory.
void log_abort(int error_code);

/// The report is written: the logs go. Rank 0's word, `written`, counts; without a report they
/// stay. Collective over MPI_COMM_WORLD.
void end_run_log(Runtime& runtime, bool written);

}  // namespace haichi::mpi
