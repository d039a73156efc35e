#include "mpi/files/file_log.h"

#include <mutex>
#include <utility>

#include "mpi/log/run_log.h"
#include "report/rank_log.h"

namespace haichi::mpi {
namespace {

using report::RankLog;

void add_calls(RankLog& log_of_rank, report::FileRecord& file) {
  if (file.logged == 0 && !file.calls.empty()) log_of_rank.add_file(file);  // its name
  for (; file.logged < file.calls.size(); ++file.logged)
    log_of_rank.add_call(file.key, file.calls[file.logged]);
}

/// With its hints. Once; the caller has the mutex of `state`.
void add_file(RankLog& log_of_rank, FileState& state) {
  if (std::exchange(state.record.told, true)) return;
  state.complete_record();
  log_of_rank.add_file(state.record);
}

}  // namespace

void log_calls(FileState& state, int64_t now_ns) {
  RankLog* const log_of_rank = state.runtime.rank_log.get();
  if (log_of_rank == nullptr) return;
  const bool shows = log_of_rank->has_time(now_ns);
  {
    const std::lock_guard guard(state.mutex);
    add_calls(*log_of_rank, state.record);
    if (shows) add_file(*log_of_rank, state);
  }
  if (shows) show_log(state.runtime);
}

void log_close(FileState& state) {
  RankLog* const log_of_rank = state.runtime.rank_log.get();
  if (log_of_rank == nullptr || state.record.calls_seen == 0) return;
  {
    const std::lock_guard guard(state.mutex);
    add_calls(*log_of_rank, state.record);
    add_file(*log_of_rank, state);
  }
  if (log_has_time(state.runtime, true)) show_log(state.runtime);
}

}  // namespace haichi::mpi
