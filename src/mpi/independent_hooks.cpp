// Hooks of the accesses that haichi leaves to the MPI library but must know of, and of the calls
// that change or tell the file's size. Before each of them what nonblocking collectives have left
// to do behind the program is finished, so that the library finds the file as the program does.
//
// Of the library's own nonblocking writes haichi must know, too, when they may be under way. See
// "Nonblocking writes of the library" in docs/notes.md.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/file_state.h"

namespace haichi::mpi {
namespace {

/// Before the call that may leave a write under way, after the call that may not.
void set_library_writes(MPI_File file, bool under_way) {
  const auto state = FileTable::get().find(file);
  if (!state) return;
  const std::lock_guard guard(state->mutex);
  state->library_writes = under_way;
}

void before_late_write(MPI_File file) {
  finish_backlog(file);
  set_library_writes(file, true);
}

}  // namespace

int on_File_read(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  finish_backlog(fh);
  return real().File_read(fh, buf, count, datatype, status);
}

int on_File_read_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Status* status) {
  finish_backlog(fh);
  return real().File_read_c(fh, buf, count, datatype, status);
}

int on_File_read_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                    MPI_Status* status) {
  finish_backlog(fh);
  return real().File_read_at(fh, offset, buf, count, datatype, status);
}

int on_File_read_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                      MPI_Datatype datatype, MPI_Status* status) {
  finish_backlog(fh);
  return real().File_read_at_c(fh, offset, buf, count, datatype, status);
}

int on_File_read_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                        MPI_Status* status) {
  finish_backlog(fh);
  return real().File_read_shared(fh, buf, count, datatype, status);
}

int on_File_read_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                          MPI_Status* status) {
  finish_backlog(fh);
  return real().File_read_shared_c(fh, buf, count, datatype, status);
}

int on_File_write(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                  MPI_Status* status) {
  finish_backlog(fh);
  return real().File_write(fh, buf, count, datatype, status);
}

int on_File_write_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Status* status) {
  finish_backlog(fh);
  return real().File_write_c(fh, buf, count, datatype, status);
}

int on_File_write_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                     MPI_Datatype datatype, MPI_Status* status) {
  finish_backlog(fh);
  return real().File_write_at(fh, offset, buf, count, datatype, status);
}

int on_File_write_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Status* status) {
  finish_backlog(fh);
  return real().File_write_at_c(fh, offset, buf, count, datatype, status);
}

int on_File_write_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                         MPI_Status* status) {
  finish_backlog(fh);
  return real().File_write_shared(fh, buf, count, datatype, status);
}

int on_File_write_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status* status) {
  finish_backlog(fh);
  return real().File_write_shared_c(fh, buf, count, datatype, status);
}

int on_File_iread(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Request* request) {
  finish_backlog(fh);
  return real().File_iread(fh, buf, count, datatype, request);
}

int on_File_iread_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Request* request) {
  finish_backlog(fh);
  return real().File_iread_c(fh, buf, count, datatype, request);
}

int on_File_iread_at(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                     MPI_Request* request) {
  finish_backlog(fh);
  return real().File_iread_at(fh, offset, buf, count, datatype, request);
}

int on_File_iread_at_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                       MPI_Datatype datatype, MPI_Request* request) {
  finish_backlog(fh);
  return real().File_iread_at_c(fh, offset, buf, count, datatype, request);
}

int on_File_iread_shared(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                         MPI_Request* request) {
  finish_backlog(fh);
  return real().File_iread_shared(fh, buf, count, datatype, request);
}

int on_File_iread_shared_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Request* request) {
  finish_backlog(fh);
  return real().File_iread_shared_c(fh, buf, count, datatype, request);
}

int on_File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                   MPI_Request* request) {
  before_late_write(fh);
  return real().File_iwrite(fh, buf, count, datatype, request);
}

int on_File_iwrite_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request* request) {
  before_late_write(fh);
  return real().File_iwrite_c(fh, buf, count, datatype, request);
}

int on_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                      MPI_Datatype datatype, MPI_Request* request) {
  before_late_write(fh);
  return real().File_iwrite_at(fh, offset, buf, count, datatype, request);
}

int on_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request* request) {
  before_late_write(fh);
  return real().File_iwrite_at_c(fh, offset, buf, count, datatype, request);
}

int on_File_iwrite_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                          MPI_Request* request) {
  before_late_write(fh);
  return real().File_iwrite_shared(fh, buf, count, datatype, request);
}

int on_File_iwrite_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request* request) {
  before_late_write(fh);
  return real().File_iwrite_shared_c(fh, buf, count, datatype, request);
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

int on_File_preallocate(MPI_File fh, MPI_Offset size) {
  finish_backlog(fh);
  return real().File_preallocate(fh, size);
}

int on_File_get_size(MPI_File fh, MPI_Offset* size) {
  finish_backlog(fh);
  return real().File_get_size(fh, size);
}

int on_File_set_atomicity(MPI_File fh, int flag) {
  finish_backlog(fh);
  return real().File_set_atomicity(fh, flag);
}

int on_File_seek(MPI_File fh, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_END) finish_backlog(fh);
  return real().File_seek(fh, offset, whence);
}

int on_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  if (whence == MPI_SEEK_END) finish_backlog(fh);
  return real().File_seek_shared(fh, offset, whence);
}

}  // namespace haichi::mpi
