// Hooks of the split collectives. All the work is done at the begin, where the standard allows it
// to be collective (MPI 4.1, section 14.4.5); the end gives the status and the error.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/collective_io.h"
#include "mpi/ordered_io.h"

namespace haichi::mpi {
namespace {

using Run = CollectiveOutcome (*)(MPI_File, FileState&, const CollectiveCall&);

bool has_split(FileState& state) {
  const std::lock_guard guard(state.mutex);
  return state.split.has_value();
}

/// What was begun of this kind, if anything: then it has ended.
std::optional<CollectiveOutcome> take_split(FileState& state, Split kind) {
  const std::lock_guard guard(state.mutex);
  if (!state.split || state.split->kind != kind) return std::nullopt;
  const CollectiveOutcome outcome = state.split->outcome;
  state.split.reset();
  return outcome;
}

/// A second begin, an end without a begin, the end of another kind. The library would not know of
/// what haichi began; and Open MPI 4.1.4 ends in a signal where nothing was.
int refuse(MPI_File file) {
  return give_outcome(file, {.taken = false, .error = MPI_ERR_IO, .bytes = 0}, MPI_STATUS_IGNORE);
}

template <class RealBegin>
int begin(MPI_File file, Split kind, Run run, const CollectiveCall& call, RealBegin real_begin) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_begin();
  if (has_split(*state)) return refuse(file);
  const CollectiveOutcome outcome = run(file, *state, call);
  const int code = outcome.taken ? MPI_SUCCESS : real_begin();
  const std::lock_guard guard(state->mutex);
  if (code == MPI_SUCCESS) state->split = {kind, outcome};
  return code;
}

template <class RealEnd>
int end(MPI_File file, Split kind, MPI_Status* status, RealEnd real_end) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_end();
  const auto outcome = take_split(*state, kind);
  if (!outcome) return refuse(file);
  return outcome->taken ? give_outcome(file, *outcome, status) : real_end();
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
