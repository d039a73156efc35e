// Hooks of the collective data accesses.
#include "base/clock.h"
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/access_clock.h"
#include "mpi/collective_io.h"
#include "mpi/file_table.h"

namespace haichi::mpi {
namespace {

/// Takes the call if all ranks can; otherwise makes `real_call` on all of them.
template <class RealCall>
int collective(MPI_File file, const CollectiveCall& call, MPI_Status* status, RealCall real_call) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_call();
  const AccessClock clock(*state, call);
  const CollectiveOutcome outcome = run_collective(file, *state, call);
  if (outcome.taken) return give_outcome(file, outcome, status);
  const int result = real_call();
  if (outcome.timed && result == MPI_SUCCESS) state->group->ways.end(now_ns());
  return result;
}

}  // namespace

int on_File_write_all(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                      MPI_Status* status) {
  return collective(fh, write_call("MPI_File_write_all", std::nullopt, buf, count, datatype),
                    status,
                    [&] { return real().File_write_all(fh, buf, count, datatype, status); });
}

int on_File_read_all(MPI_File fh, void* buf, int count, MPI_Datatype datatype, MPI_Status* status) {
  return collective(fh, read_call("MPI_File_read_all", std::nullopt, buf, count, datatype), status,
                    [&] { return real().File_read_all(fh, buf, count, datatype, status); });
}

int on_File_write_at_all(MPI_File fh, MPI_Offset offset, const void* buf, int count,
                         MPI_Datatype datatype, MPI_Status* status) {
  return collective(
      fh, write_call("MPI_File_write_at_all", offset, buf, count, datatype), status,
      [&] { return real().File_write_at_all(fh, offset, buf, count, datatype, status); });
}

int on_File_read_at_all(MPI_File fh, MPI_Offset offset, void* buf, int count, MPI_Datatype datatype,
                        MPI_Status* status) {
  return collective(
      fh, read_call("MPI_File_read_at_all", offset, buf, count, datatype), status,
      [&] { return real().File_read_at_all(fh, offset, buf, count, datatype, status); });
}

int on_File_write_all_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                        MPI_Status* status) {
  return collective(fh, write_call("MPI_File_write_all_c", std::nullopt, buf, count, datatype),
                    status,
                    [&] { return real().File_write_all_c(fh, buf, count, datatype, status); });
}

int on_File_read_all_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Status* status) {
  return collective(fh, read_call("MPI_File_read_all_c", std::nullopt, buf, count, datatype),
                    status,
                    [&] { return real().File_read_all_c(fh, buf, count, datatype, status); });
}

int on_File_write_at_all_c(MPI_File fh, MPI_Offset offset, const void* buf, MPI_Count count,
                           MPI_Datatype datatype, MPI_Status* status) {
  return collective(
      fh, write_call("MPI_File_write_at_all_c", offset, buf, count, datatype), status,
      [&] { return real().File_write_at_all_c(fh, offset, buf, count, datatype, status); });
}

int on_File_read_at_all_c(MPI_File fh, MPI_Offset offset, void* buf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Status* status) {
  return collective(
      fh, read_call("MPI_File_read_at_all_c", offset, buf, count, datatype), status,
      [&] { return real().File_read_at_all_c(fh, offset, buf, count, datatype, status); });
}

}  // namespace haichi::mpi
