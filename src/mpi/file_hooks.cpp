// Hooks of the functions that open, close and describe a file. Hooks run with the depth guard held:
// every MPI call made here goes to the MPI library.
#include <string.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"
#include "mpi/compat/view_types.h"
#include "mpi/datatype.h"
#include "mpi/discover.h"
#include "mpi/exchange_tuning.h"
#include "mpi/file_state.h"
#include "mpi/private_comm.h"

namespace haichi::mpi {
namespace {

constinit std::atomic<int64_t> g_files_opened = 0;

/// Rank in MPI_COMM_WORLD of each rank of `comm`; nothing if some rank is of another world.
std::optional<std::vector<int>> ranks_of_this_world(MPI_Comm comm) {
  auto ranks = world_ranks(comm);
  if (!ranks || std::find(ranks->begin(), ranks->end(), MPI_UNDEFINED) != ranks->end())
    return std::nullopt;
  return std::move(*ranks);
}

/// This rank's state of a file that it has opened, or null if it cannot take it.
std::shared_ptr<FileState> own_state(Runtime& runtime, MPI_Comm own, const char* filename,
                                     int amode, MPI_Info info) try {
  auto path = posix_path(filename);
  const auto world_rank = ranks_of_this_world(own);
  const auto where = placement_of(own, runtime.world);
  if (!path || !where || !world_rank) return nullptr;
  auto state = std::make_shared<FileState>(runtime, own, std::move(*path), amode);
  real().Comm_rank(own, &state->rank);
  state->placement = *where;
  state->world_rank = *world_rank;
  state->take_hints(info);
  state->open_descriptor();
  return state;
} catch (const std::bad_alloc&) {
  return nullptr;  // before the ranks meet: one that does not come makes the others wait
}

/// Makes the state of a file that every rank has opened, or null; collective over `own`.
/// `opened` says whether this rank's open succeeded.
std::shared_ptr<FileState> make_state(Runtime& runtime, MPI_Comm own, const char* filename,
                                      int amode, MPI_Info info, bool opened) {
  auto state = opened ? own_state(runtime, own, filename, amode, info) : nullptr;
  // Rank 0 names the file; the smallest of all answers is the agreed one.
  enum {
    taken,
    named,
    with_descriptor,
    left_alone,
    stripe_unit,
    stripes,
    tuned,
    least_group,
    minus_greatest_group,
    answers
  };
  const auto group = state ? find_tuning(state->world_rank) : nullptr;
  int64_t answer[answers] = {state != nullptr,
                             INT64_MAX,
                             state && state->has_descriptor(),
                             state && state->switched_off(),
                             INT64_MAX,
                             INT64_MAX,
                             state && state->wants_tuning() && (group || room_for_tuning()),
                             group ? group->id : 0,
                             group ? -group->id : 0};
  if (state && state->rank == 0) {
    answer[named] = (int64_t{runtime.rank} << 32) | g_files_opened.fetch_add(1);
    if (const auto striping = state->striping()) {
      answer[stripe_unit] = striping->unit;
      answer[stripes] = striping->count;
    }
  }
  int64_t agreed[answers] = {};
  if (real().Allreduce(answer, agreed, answers, handles().int64, handles().op_min, own) !=
          MPI_SUCCESS ||
      !agreed[taken]) {
    if (opened)
      runtime.note(fmt::format("{}: passed through: {}", filename,
                               !posix_path(filename)
                                   ? "its prefix names a driver of the MPI library"
                                   : "not every rank could take it"));
    return nullptr;
  }
  if (agreed[left_alone]) {  // on all ranks: no call of this file shall cost an agreement
    runtime.note(
        fmt::format("{}: handed back to the MPI library at open: io.enable is off", filename));
    return nullptr;
  }
  state->record.key = agreed[named];
  if (agreed[stripes] != INT64_MAX) state->take_striping({agreed[stripe_unit], agreed[stripes]});
  state->nonblocking_too = agreed[with_descriptor];
  const int64_t common = agreed[least_group];
  const bool all_have_it = common != 0 && common == -agreed[minus_greatest_group];
  if (agreed[tuned]) state->tuning = all_have_it ? group : begin_tuning(*state);
  return state;
}

}  // namespace

int on_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  Runtime* const runtime = Runtime::get();
  const MPI_Comm own = runtime ? take_private_comm(comm) : handles().comm_null;
  const int result = real().File_open(comm, filename, amode, info, fh);
  if (own == handles().comm_null) return result;
  auto state = make_state(*runtime, own, filename, amode, info, result == MPI_SUCCESS);
  if (state)
    FileTable::get().add(*fh, std::move(state));
  else
    give_back_private_comm(own);
  return result;
}

int on_File_close(MPI_File* fh) {
  auto state = fh ? FileTable::get().remove(*fh) : nullptr;
  if (state) {
    state->backlog.finish();
    const MPI_Comm own = state->comm;
    keep_file_record(std::move(state->record));
    state.reset();  // our descriptor goes first: the file may be deleted on close
    give_back_private_comm(own);
  }
  return real().File_close(fh);
}

int on_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
                     const char* datarep, MPI_Info info) {
  const auto state = FileTable::get().find(fh);
  if (!state) return real().File_set_view(fh, disp, etype, filetype, datarep, info);
  state->backlog.finish();
  const std::lock_guard guard(state->mutex);
  MPI_Offset given_disp = disp;
  MPI_Datatype given_etype = etype, given_filetype = filetype;
  bool substituted = false;
  const auto elementary = decode_type(etype), tile = decode_type(filetype);
  if (elementary && tile && datarep && strcmp(datarep, "native") == 0 &&
      (needs_substitute(*elementary) || needs_substitute(*tile))) {
    const auto bytes = contiguous_bytes(elementary->size());
    const auto view = byte_type_like(*tile);
    substituted = bytes && view;
    if (substituted) {
      given_disp += tile->pattern->begin();
      given_etype = *bytes, given_filetype = *view;
    }
  }
  const int result =
      real().File_set_view(fh, given_disp, given_etype, given_filetype, datarep, info);
  if (result == MPI_SUCCESS) {
    state->take_hints(info);
    state->take_view(disp, etype, filetype, datarep);
    state->remember_types(etype, filetype, substituted);
    state->library_writes = false;
  }
  if (substituted) {
    real().Type_free(&given_etype);
    real().Type_free(&given_filetype);
  }
  return result;
}

int on_File_get_view(MPI_File fh, MPI_Offset* disp, MPI_Datatype* etype, MPI_Datatype* filetype,
                     char* datarep) {
  const int result = real().File_get_view(fh, disp, etype, filetype, datarep);
  const auto state = FileTable::get().find(fh);
  if (result != MPI_SUCCESS || !state || !state->view_substituted) return result;
  // The program must see what it gave, not the equivalents that the library got.
  const std::lock_guard guard(state->mutex);
  *disp = state->view.displacement;
  real().Type_free(etype);
  real().Type_free(filetype);
  real().Type_dup(state->user_etype, etype);
  real().Type_dup(state->user_filetype, filetype);
  return result;
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
    state->give_hints(*info);
  }
  return result;
}

}  // namespace haichi::mpi
