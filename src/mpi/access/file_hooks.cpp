// Hooks of the functions that open, close and describe a file. Hooks run with the depth guard held:
// every MPI call made here goes to the MPI library.
#include <algorithm>
#include <new>

#include "base/log.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/access/access_request.h"
#include "mpi/compat/handles.h"
#include "mpi/files/file_group.h"
#include "mpi/files/file_log.h"
#include "mpi/files/file_state.h"
#include "mpi/files/file_table.h"
#include "mpi/files/posix_path.h"
#include "mpi/files/presence.h"
#include "mpi/job/abort_job.h"
#include "mpi/log/run_log.h"
#include "report/kept.h"

namespace haichi::mpi {
namespace {

/// Makes a file that may be written known to who fills holes; by the last rank of the file: while
/// the first one creates it the others wait. Null on other ranks, and where it cannot be done or
/// nobody is there who has to know.
std::unique_ptr<Presence> presence_at(const Runtime* runtime, MPI_Comm comm, const char* filename,
                                      int amode) {
  int rank, ranks;
  if (!runtime || runtime->observes || runtime->world.ranks() < 2 || (amode & MPI_MODE_RDONLY) ||
      !filename || comm == handles().comm_null || real().Comm_rank(comm, &rank) != MPI_SUCCESS ||
      real().Comm_size(comm, &ranks) != MPI_SUCCESS || rank != ranks - 1)
    return nullptr;
  const auto path = posix_path(filename);
  return path ? Presence::enter(path->c_str()) : nullptr;
}

/// What haichi knows of a file that this rank has opened; null on all ranks if its name is not the
/// operating system's.
std::shared_ptr<FileState> make_state(const std::shared_ptr<FileGroup>& group, const char* filename,
                                      int amode, MPI_Info info) {
  if (group->runtime.settings.text("io.enable") == "off") {
    group->runtime.note(
        fmt::format("{}: handed back to the MPI library at open: io.enable is off", filename));
    return nullptr;
  }
  auto path = posix_path(filename);
  if (!path) {
    group->runtime.note(
        fmt::format("{}: passed through: its prefix names a driver of the MPI library", filename));
    return nullptr;
  }
  auto state = std::make_shared<FileState>(group, std::move(*path), amode);
  state->record.key = group->next_file();
  // Not while the program waits for its calls; memory that none comes to need is never touched.
  if (group->runtime.reports) state->record.calls.reserve(size_t(report::kMaxCallsListed));
  for (int form = 0; form < kAccessForms; ++form)
    for (int d = 0; d < 2; ++d)
      if (group->files_doze[form][d].goes_on()) state->doze[form][d].begin_asleep();
  state->take_hints(info);
  return state;
}

/// Without memory for a file's state this rank would be missed by the others.
std::shared_ptr<FileState> make_state_or_abort(const std::shared_ptr<FileGroup>& group,
                                               const char* filename, int amode, MPI_Info info) {
  try {
    return make_state(group, filename, amode, info);
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "{}: out of memory when it is opened; the job ends", filename);
    abort_job(kOutOfMemoryExit);
    return nullptr;
  }
}

/// Like files of the same ranks need not be asked about so often.
void count_file(const FileState& state) {
  for (int form = 0; form < kAccessForms; ++form)
    for (int d = 0; d < 2; ++d) {
      const mpiio::Doze& accesses = state.doze[form][d];
      mpiio::Doze& files = state.group->files_doze[form][d];
      if (accesses.ended())
        files.end();
      else if (accesses.all_were_the_librarys())
        files.longer();
    }
}

}  // namespace

int on_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  Runtime* const runtime = Runtime::get();
  const auto group = runtime ? file_group(*runtime, comm) : nullptr;
  // Before any rank can write; a file that is not there yet nobody else can be writing to.
  auto presence = presence_at(runtime, comm, filename, amode);
  const int result = real().File_open(comm, filename, amode, info, fh);
  if (result != MPI_SUCCESS) return result;
  if (!presence) presence = presence_at(runtime, comm, filename, amode);
  auto state = group ? make_state_or_abort(group, filename, amode, info) : nullptr;
  if (state) log_open(state->runtime);
  if (state && presence) state->slot = presence->slot();
  FileTable::get().add(*fh, std::move(state), std::move(presence));
  return result;
}

int on_File_close(MPI_File* fh) {
  auto state = fh ? FileTable::get().remove(*fh) : nullptr;
  int error = MPI_SUCCESS;
  if (state) {
    state->backlog.finish();
    count_file(*state);
    state->group->views_unasked = state->view.unasked();
    if (state->runtime.reports) {
      state->complete_record();
      log_close(*state);
      report::keep_file_record(std::move(state->record));
    }
    // Our descriptor goes first: the file may be deleted on close.
    if (const Status closed = state->close_descriptor(); !closed)
      error = error_class_of(noted(*state, closed.error()));
    state.reset();
  }
  // As long as there is a file whose handler it is.
  if (error != MPI_SUCCESS) real().File_call_errhandler(*fh, error);
  const int result = real().File_close(fh);
  return result != MPI_SUCCESS ? result : error;
}

int on_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                     const char* datarep, MPI_Info info) {
  const auto state = FileTable::get().find(fh);
  if (!state) return real().File_set_view(fh, disp, etype, filetype, datarep, info);
  state->backlog.finish();
  const int result = state->view.set(fh, disp, etype, filetype, datarep, info);
  if (result != MPI_SUCCESS) return result;
  state->pointer.forget();
  state->forget_refusals();
  state->library_writes = false;
  const std::lock_guard guard(state->mutex);
  state->take_hints(info);
  return result;
}

int on_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                     char* datarep) {
  const auto state = FileTable::get().find(fh);
  return state ? state->view.get(fh, disp, etype, filetype, datarep)
               : real().File_get_view(fh, disp, etype, filetype, datarep);
}

int on_File_set_info(MPI_File fh, MPI_Info info) {
  const int result = real().File_set_info(fh, info);
  if (const auto state = FileTable::get().find(fh); state && result == MPI_SUCCESS) {
    const std::lock_guard guard(state->mutex);
    state->take_hints(info);
  }
  return result;
}

int on_File_get_info(MPI_File fh, MPI_Info* info) {
  const int result = real().File_get_info(fh, info);
  if (const auto state = FileTable::get().find(fh); state && result == MPI_SUCCESS) {
    const std::lock_guard guard(state->mutex);
    state->options.give_hints(*info);
  }
  return result;
}

}  // namespace haichi::mpi
