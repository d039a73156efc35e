// Hooks of the nonblocking collective data accesses.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/access_clock.h"
#include "mpi/file_table.h"
#include "mpi/nonblocking_io.h"

namespace haichi::mpi {
namespace {

/// Before a call of the library's.
void leave(MPI_File file, FileState& state, const CollectiveCall& call) {
  if (call.direction == mpiio::Direction::write) state.library_writes = true;
  if (!call.offset) state.pointer.hand_over(file);
}

/// Does this rank's part and gives a request for it. A rank that cannot makes its part by
/// `own_call`, the real independent one. What is passed through on all ranks alike gets
/// `real_call`.
template <class RealCall, class OwnCall>
int nonblocking(MPI_File file, const CollectiveCall& call, MPI_Request* request, RealCall real_call,
                OwnCall own_call) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_call();
  const AccessClock clock(*state, call);
  if (state->observes()) return real_call();
  if (leave_to_library(file, *state, call)) {
    leave(file, *state, call);
    return real_call();
  }
  if (const auto started = start_own_part(file, state, call, request)) return *started;
  leave(file, *state, call);
  return own_call();
}

}  // namespace

int on_File_iwrite_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                       MPI_Request* request) {
  return nonblocking(
      fh, write_call("MPI_File_iwrite_all", std::nullopt, buf, count, datatype), request,
      [&] { return real().File_iwrite_all(fh, buf, count, datatype, request); },
      [&] { return real().File_iwrite(fh, buf, count, datatype, request); });
}

int on_File_iread_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                      MPI_Request* request) {
  return nonblocking(
      fh, read_call("MPI_File_iread_all", std::nullopt, buf, count, datatype), request,
      [&] { return real().File_iread_all(fh, buf, count, datatype, request); },
      [&] { return real().File_iread(fh, buf, count, datatype, request); });
}

int on_File_iwrite_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                          MPI_Datatype datatype, MPI_Request* request) {
  return nonblocking(
      fh, write_call("MPI_File_iwrite_at_all", offset, buf, count, datatype), request,
      [&] { return real().File_iwrite_at_all(fh, offset, buf, count, datatype, request); },
      [&] { return real().File_iwrite_at(fh, offset, buf, count, datatype, request); });
}

int on_File_iread_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count,
                         MPI_Datatype datatype, MPI_Request* request) {
  return nonblocking(
      fh, read_call("MPI_File_iread_at_all", offset, buf, count, datatype), request,
      [&] { return real().File_iread_at_all(fh, offset, buf, count, datatype, request); },
      [&] { return real().File_iread_at(fh, offset, buf, count, datatype, request); });
}

int on_File_iwrite_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Request* request) {
  return nonblocking(
      fh, write_call("MPI_File_iwrite_all_c", std::nullopt, buf, count, datatype), request,
      [&] { return real().File_iwrite_all_c(fh, buf, count, datatype, request); },
      [&] { return real().File_iwrite_c(fh, buf, count, datatype, request); });
}

int on_File_iread_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Request* request) {
  return nonblocking(
      fh, read_call("MPI_File_iread_all_c", std::nullopt, buf, count, datatype), request,
      [&] { return real().File_iread_all_c(fh, buf, count, datatype, request); },
      [&] { return real().File_iread_c(fh, buf, count, datatype, request); });
}

int on_File_iwrite_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Request* request) {
  return nonblocking(
      fh, write_call("MPI_File_iwrite_at_all_c", offset, buf, count, datatype), request,
      [&] { return real().File_iwrite_at_all_c(fh, offset, buf, count, datatype, request); },
      [&] { return real().File_iwrite_at_c(fh, offset, buf, count, datatype, request); });
}

int on_File_iread_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Request* request) {
  return nonblocking(
      fh, read_call("MPI_File_iread_at_all_c", offset, buf, count, datatype), request,
      [&] { return real().File_iread_at_all_c(fh, offset, buf, count, datatype, request); },
      [&] { return real().File_iread_at_c(fh, offset, buf, count, datatype, request); });
}

}  // namespace haichi::mpi
