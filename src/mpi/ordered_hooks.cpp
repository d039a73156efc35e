// Hooks of the accesses at the shared file pointer in the order of the ranks.
#include "generated/hooks.h"
#include "generated/real.h"
#include "mpi/access_clock.h"
#include "mpi/file_table.h"
#include "mpi/ordered_io.h"

namespace haichi::mpi {
namespace {

/// Takes the call if all ranks can; otherwise makes `real_call` on all of them.
template <class RealCall>
int ordered(MPI_File file, const CollectiveCall& call, MPI_Status* status, RealCall real_call) {
  const auto state = FileTable::get().find(file);
  if (!state) return real_call();
  const AccessClock clock(*state, call);
  const CollectiveOutcome outcome = run_ordered(file, *state, call);
  return outcome.taken ? give_outcome(file, outcome, status) : real_call();
}

}  // namespace

int on_File_write_ordered(MPI_File fh, const void* buf, int count, MPI_Datatype datatype,
                          MPI_Status* status) {
  return ordered(fh, write_call("MPI_File_write_ordered", std::nullopt, buf, count, datatype),
                 status,
                 [&] { return real().File_write_ordered(fh, buf, count, datatype, status); });
}

int on_File_read_ordered(MPI_File fh, void* buf, int count, MPI_Datatype datatype,
                         MPI_Status* status) {
  return ordered(fh, read_call("MPI_File_read_ordered", std::nullopt, buf, count, datatype), status,
                 [&] { return real().File_read_ordered(fh, buf, count, datatype, status); });
}

int on_File_write_ordered_c(MPI_File fh, const void* buf, MPI_Count count, MPI_Datatype datatype,
                            MPI_Status* status) {
  return ordered(fh, write_call("MPI_File_write_ordered_c", std::nullopt, buf, count, datatype),
                 status,
                 [&] { return real().File_write_ordered_c(fh, buf, count, datatype, status); });
}

int on_File_read_ordered_c(MPI_File fh, void* buf, MPI_Count count, MPI_Datatype datatype,
                           MPI_Status* status) {
  return ordered(fh, read_call("MPI_File_read_ordered_c", std::nullopt, buf, count, datatype),
                 status,
                 [&] { return real().File_read_ordered_c(fh, buf, count, datatype, status); });
}

}  // namespace haichi::mpi
