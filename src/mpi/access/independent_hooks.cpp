// Hooks of the accesses that haichi leaves to the MPI library but must know of, and of the calls
// that change or tell the file's size. Before each of them what nonblocking collectives have left
// to do behind the program is finished, so that the library finds the file as the program does. For
// most of them that is all: functions.txt says before which.
//
// Of the library's own nonblocking writes haichi must know, too, when they may be under way. See
// "Nonblocking writes of the library" in docs/notes.md.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/files/file_state.h"
#include "mpi/files/file_table.h"

namespace haichi::mpi {
namespace {

/// Before the call that may leave a write under way, after the call that may not.
void set_library_writes(MPI_File file, bool under_way) {
  const auto state = FileTable::get().find(file);
  if (state) state->library_writes = under_way;
}

void hand_over_pointer(MPI_File file) {
  if (!FilePointer::any_known()) return;
  if (const auto state = FileTable::get().find(file)) state->pointer.hand_over(file);
}

Turn turn_of(MPI_File file) {
  const Runtime* const runtime = Runtime::get();
  if (!runtime || !runtime->threads_may_write) return {};
  const auto state = FileTable::get().find(file);
  return state ? state->take_turn() : Turn();
}

}  // namespace

void finish_backlog(MPI_File fh) {
  const Runtime* const runtime = Runtime::get();
  if (!runtime || !runtime->any_behind_program()) return;
  if (const auto state = FileTable::get().find(fh)) state->backlog.finish();
}

void expect_write(MPI_File fh) {
  finish_backlog(fh);
  const Runtime* const runtime = Runtime::get();
  if (!runtime || !runtime->threads_may_write) return;
  if (const auto state = FileTable::get().find(fh)) state->note_writer();
}

void expect_read_at_pointer(MPI_File fh) {
  finish_backlog(fh);
  hand_over_pointer(fh);
}

void expect_write_at_pointer(MPI_File fh) {
  expect_write(fh);
  hand_over_pointer(fh);
}

Turn turn_to_read(MPI_File fh) {
  finish_backlog(fh);
  return turn_of(fh);
}

Turn turn_to_read_at_pointer(MPI_File fh) {
  expect_read_at_pointer(fh);
  return turn_of(fh);
}

Turn turn_to_write(MPI_File fh) {
  expect_write(fh);
  set_library_writes(fh, true);
  return turn_of(fh);
}

Turn turn_to_write_at_pointer(MPI_File fh) {
  Turn turn = turn_to_write(fh);
  hand_over_pointer(fh);
  return turn;
}

void expect_other_mode(MPI_File fh) {
  finish_backlog(fh);
  if (const auto state = FileTable::get().find(fh)) state->forget_refusals();
}

int on_File_sync(MPI_File fh) {
  finish_backlog(fh);
  const int result = real().File_sync(fh);
  set_library_writes(fh, false);
  return result;
}

int on_File_set_size(MPI_File fh, MPI_Offset size) {
  finish_backlog(fh);
  const int result = real().File_set_size(fh, size);
  set_library_writes(fh, false);
  return result;
}

int on_File_get_position(MPI_File fh, MPI_Offset* offset) {
  const auto state = offset && FilePointer::any_known() ? FileTable::get().find(fh) : nullptr;
  const auto known = state ? state->pointer.known() : std::nullopt;
  if (!known) return real().File_get_position(fh, offset);
  *offset = *known;
  return MPI_SUCCESS;
}

int on_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_END) finish_backlog(fh);
  if (whence != MPI_SEEK_SET) hand_over_pointer(fh);
  const int result = real().File_seek(fh, offset, whence);
  if (result != MPI_SUCCESS || whence != MPI_SEEK_SET) return result;
  if (const auto state = FileTable::get().find(fh)) state->pointer.forget();
  return result;
}

int on_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_END) finish_backlog(fh);
  return real().File_seek_shared(fh, offset, whence);
}

}  // namespace haichi::mpi
