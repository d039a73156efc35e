// Hooks of the split collectives. All the work is done at the begin, where the standard allows it
// to be collective (MPI 4.1, section 14.4.5); the end gives the status and the error.
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "generated/by_split_begin.h"
#include "generated/by_split_end.h"
#include "mpi/access/access_clock.h"
#include "mpi/access/collective_io.h"
#include "mpi/access/ordered_io.h"
#include "mpi/files/file_table.h"

namespace haichi::mpi {
namespace {

/// What a begin and its end have in common: "MPI_File_write_all" of "MPI_File_write_all_end".
constexpr std::string_view kind_of(std::string_view name) {
  return name.substr(0, name.rfind('_'));
}

bool has_split(FileState& state) {
  const std::lock_guard guard(state.mutex);
  return state.split.has_value();
}

/// What was begun of this kind, if anything: then it has ended.
std::optional<SplitAccess> take_split(FileState& state, std::string_view kind) {
  const std::lock_guard guard(state.mutex);
  if (!state.split || state.split->kind != kind) return std::nullopt;
  return *std::exchange(state.split, std::nullopt);
}

/// A second begin, an end without a begin, the end of another kind. The library would not know of
/// what haichi began; and Open MPI 4.1.4 ends in a signal where nothing was.
int refuse(MPI_File file) {
  return give_outcome(file, {.taken = false, .error = MPI_ERR_IO, .bytes = 0}, MPI_STATUS_IGNORE);
}

template <class Call>
int split_begin(const Call& call) {
  constexpr std::string_view kind = kind_of(Call::kPlainName);
  constexpr auto run = kind.ends_with("_ordered") ? run_ordered : run_collective;
  const auto state = FileTable::get().find(call.fh);
  if (!state) return call.real_call();
  if (has_split(*state)) return refuse(call.fh);
  CollectiveCall access = collective_call(call);
  access.form = AccessForm::split;
  const AccessClock clock(*state, access);
  SplitAccess split{kind, run(call.fh, *state, access)};
  const int code = split.outcome.taken ? MPI_SUCCESS : call.real_call();
  if (split.outcome.timed) {
    const WayTrials& ways = state->group->ways;
    split.number = ways.number();
    split.begin_ns = ways.since_begin_ns(now_ns());
  }
  const std::lock_guard guard(state->mutex);
  if (code == MPI_SUCCESS) state->split = split;
  return code;
}

template <class Call>
int split_end(const Call& call) {
  const auto state = FileTable::get().find(call.fh);
  if (!state) return call.real_call();
  const auto split = take_split(*state, kind_of(Call::kPlainName));
  if (!split) return refuse(call.fh);
  const AccessClock clock(*state);
  if (split->outcome.taken) return give_outcome(call.fh, split->outcome, call.status);
  const int64_t since_ns = now_ns();
  const int result = call.real_call();
  if (split->outcome.timed && result == MPI_SUCCESS)
    state->group->ways.end_split(split->number, split->begin_ns + now_ns() - since_ns);
  return result;
}

}  // namespace
}  // namespace haichi::mpi
