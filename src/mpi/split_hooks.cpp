// Hooks of the split collectives. All the work is done at the begin, where the standard allows it
// to be collective (MPI 4.1, section 14.4.5); the end gives the status and the error.
#include <utility>

#include "base/clock.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/access_clock.h"
#include "mpi/collective_io.h"
#include "mpi/file_table.h"
#include "mpi/ordered_io.h"

namespace haichi::mpi {
namespace {

using Run = CollectiveOutcome (*)(MPI_File, FileState&, const CollectiveCall&);

bool has_split(FileState& state) {
  const std::lock_guard guard(state.mutex);
  return state.split.has_value();
}

/// What was begun of this kind, if anything: then it has ended.
std::optional<SplitAccess> take_split(FileState& state, Split kind) {
  const std::lock_guard guard(state.mutex);
  if (!state.split || state.split->kind != kind) return std::nullopt;
  return *std::exchange(state.split, std::nullopt);
}

/// A second begin, an end without a begin, the end of another kind. The library would not know of
/// what haichi began; and Open MPI 4.1.4 ends in a signal where nothing was.
int refuse(MPI_File file) {
  return give_outcome(file, {.taken = false, .error = MPI_ERR_IO, .bytes = 0}, MPI_STATUS_IGNORE);
}

template <class RealBegin>
int begin(MPI_File file, Split kind, Run run, CollectiveCall call, RealBegin real_begin) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_begin();
  if (has_split(*state)) return refuse(file);
  call.form = AccessForm::split;
  const AccessClock clock(*state, call);
  SplitAccess split{kind, run(file, *state, call)};
  const int code = split.outcome.taken ? MPI_SUCCESS : real_begin();
  if (split.outcome.timed) {
    const WayTrials& ways = state->group->ways;
    split.number = ways.number();
    split.begin_ns = ways.since_begin_ns(now_ns());
  }
  const std::lock_guard guard(state->mutex);
  if (code == MPI_SUCCESS) state->split = split;
  return code;
}

template <class RealEnd>
int end(MPI_File file, Split kind, MPI_Status* status, RealEnd real_end) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_end();
  const auto split = take_split(*state, kind);
  if (!split) return refuse(file);
  const AccessClock clock(*state);
  if (split->outcome.taken) return give_outcome(file, split->outcome, status);
  const int64_t since_ns = now_ns();
  const int result = real_end();
  if (split->outcome.timed && result == MPI_SUCCESS)
    state->group->ways.end_split(split->number, split->begin_ns + now_ns() - since_ns);
  return result;
}

}  // namespace

int on_File_write_all_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  return begin(fh, Split::write_all, run_collective,
               write_call("MPI_File_write_all_begin", std::nullopt, buf, count, datatype),
               [&] { return real().File_write_all_begin(fh, buf, count, datatype); });
}

int on_File_read_all_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  return begin(fh, Split::read_all, run_collective,
               read_call("MPI_File_read_all_begin", std::nullopt, buf, count, datatype),
               [&] { return real().File_read_all_begin(fh, buf, count, datatype); });
}

int on_File_write_at_all_begin(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                               MPI_Datatype datatype) {
  return begin(fh, Split::write_at_all, run_collective,
               write_call("MPI_File_write_at_all_begin", offset, buf, count, datatype),
               [&] { return real().File_write_at_all_begin(fh, offset, buf, count, datatype); });
}

int on_File_read_at_all_begin(MPI_File fh, MPI_Offset offset, void* buf, int count,
                              MPI_Datatype datatype) {
  return begin(fh, Split::read_at_all, run_collective,
               read_call("MPI_File_read_at_all_begin", offset, buf, count, datatype),
               [&] { return real().File_read_at_all_begin(fh, offset, buf, count, datatype); });
}

int on_File_write_ordered_begin(MPI_File fh, const void* buf, int count, MPI_Datatype datatype) {
  return begin(fh, Split::write_ordered, run_ordered,
               write_call("MPI_File_write_ordered_begin", std::nullopt, buf, count, datatype),
               [&] { return real().File_write_ordered_begin(fh, buf, count, datatype); });
}

int on_File_read_ordered_begin(MPI_File fh, void* buf, int count, MPI_Datatype datatype) {
  return begin(fh, Split::read_ordered, run_ordered,
               read_call("MPI_File_read_ordered_begin", std::nullopt, buf, count, datatype),
               [&] { return real().File_read_ordered_begin(fh, buf, count, datatype); });
}

int on_File_write_all_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                              MPI_Datatype datatype) {
  return begin(fh, Split::write_all, run_collective,
               write_call("MPI_File_write_all_begin_c", std::nullopt, buf, count, datatype),
               [&] { return real().File_write_all_begin_c(fh, buf, count, datatype); });
}

int on_File_read_all_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin(fh, Split::read_all, run_collective,
               read_call("MPI_File_read_all_begin_c", std::nullopt, buf, count, datatype),
               [&] { return real().File_read_all_begin_c(fh, buf, count, datatype); });
}

int on_File_write_at_all_begin_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                                 MPI_Datatype datatype) {
  return begin(fh, Split::write_at_all, run_collective,
               write_call("MPI_File_write_at_all_begin_c", offset, buf, count, datatype),
               [&] { return real().File_write_at_all_begin_c(fh, offset, buf, count, datatype); });
}

int on_File_read_at_all_begin_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                                MPI_Datatype datatype) {
  return begin(fh, Split::read_at_all, run_collective,
               read_call("MPI_File_read_at_all_begin_c", offset, buf, count, datatype),
               [&] { return real().File_read_at_all_begin_c(fh, offset, buf, count, datatype); });
}

int on_File_write_ordered_begin_c(MPI_File fh, const void* buf, MPI_Count count,
                                  MPI_Datatype datatype) {
  return begin(fh, Split::write_ordered, run_ordered,
               write_call("MPI_File_write_ordered_begin_c", std::nullopt, buf, count, datatype),
               [&] { return real().File_write_ordered_begin_c(fh, buf, count, datatype); });
}

int on_File_read_ordered_begin_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype) {
  return begin(fh, Split::read_ordered, run_ordered,
               read_call("MPI_File_read_ordered_begin_c", std::nullopt, buf, count, datatype),
               [&] { return real().File_read_ordered_begin_c(fh, buf, count, datatype); });
}

int on_File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end(fh, Split::write_all, status,
             [&] { return real().File_write_all_end(fh, buf, status); });
}

int on_File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end(fh, Split::read_all, status,
             [&] { return real().File_read_all_end(fh, buf, status); });
}

int on_File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end(fh, Split::write_at_all, status,
             [&] { return real().File_write_at_all_end(fh, buf, status); });
}

int on_File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end(fh, Split::read_at_all, status,
             [&] { return real().File_read_at_all_end(fh, buf, status); });
}

int on_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end(fh, Split::write_ordered, status,
             [&] { return real().File_write_ordered_end(fh, buf, status); });
}

int on_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end(fh, Split::read_ordered, status,
             [&] { return real().File_read_ordered_end(fh, buf, status); });
}

}  // namespace haichi::mpi
