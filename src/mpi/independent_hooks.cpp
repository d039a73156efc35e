// Hooks of the library's own nonblocking writes, which haichi leaves to it but must know of, and of
// the calls before which the program has to complete them. See "Nonblocking writes of the library"
// in docs/notes.md.
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

}  // namespace

int on_File_iwrite(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                   MPI_Request* request) {
  set_library_writes(fh, true);
  return real().File_iwrite(fh, buf, count, datatype, request);
}

int on_File_iwrite_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Request* request) {
  set_library_writes(fh, true);
  return real().File_iwrite_c(fh, buf, count, datatype, request);
}

int on_File_iwrite_at(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                      MPI_Datatype datatype, MPI_Request* request) {
  set_library_writes(fh, true);
  return real().File_iwrite_at(fh, offset, buf, count, datatype, request);
}

int on_File_iwrite_at_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                        MPI_Datatype datatype, MPI_Request* request) {
  set_library_writes(fh, true);
  return real().File_iwrite_at_c(fh, offset, buf, count, datatype, request);
}

int on_File_iwrite_shared(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                          MPI_Request* request) {
  set_library_writes(fh, true);
  return real().File_iwrite_shared(fh, buf, count, datatype, request);
}

int on_File_iwrite_shared_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Request* request) {
  set_library_writes(fh, true);
  return real().File_iwrite_shared_c(fh, buf, count, datatype, request);
}

int on_File_sync(MPI_File fh) {
  const int result = real().File_sync(fh);
  set_library_writes(fh, false);
  return result;
}

int on_File_set_size(MPI_File fh, MPI_Offset size) {
  const int result = real().File_set_size(fh, size);
  set_library_writes(fh, false);
  return result;
}

}  // namespace haichi::mpi
