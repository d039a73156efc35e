// Hooks of the nonblocking collective data accesses.
#include <tuple>

#include "generated/by_nonblocking_access.h"
#include "mpi/access/access_clock.h"
#include "mpi/access/nonblocking_io.h"
#include "mpi/files/file_table.h"

namespace haichi::mpi {
namespace {

/// Before a call of the library's.
void leave(MPI_File file, FileState& state, const CollectiveCall& call) {
  if (call.direction == mpiio::Direction::write) state.library_writes = true;
  if (!call.offset) state.pointer.hand_over(file);
}

/// The independent access that has the parameters of a collective one.
template <class Function>
Function independent(const Real& real) {
  return std::get<Function>(std::tuple(
      real.File_iwrite, real.File_iwrite_c, real.File_iread, real.File_iread_c, real.File_iwrite_at,
      real.File_iwrite_at_c, real.File_iread_at, real.File_iread_at_c));
}

/// Does this rank's part and gives a request for it. A rank that cannot makes its part by the real
/// independent call. What is passed through on all ranks alike gets the real call.
template <class Call>
int nonblocking_access(const Call& call) {
  const auto state = FileTable::get().find(call.fh);
  if (!state) return call.real_call();
  const CollectiveCall access = collective_call(call);
  const AccessClock clock(*state, access);
  if (state->observes()) return call.real_call();
  if (leave_to_library(call.fh, *state, access)) {
    leave(call.fh, *state, access);
    return call.real_call();
  }
  if (const auto started = start_own_part(call.fh, state, access, call.request)) return *started;
  leave(call.fh, *state, access);
  return call.made_by(independent<typename Call::Function>(real()));
}

}  // namespace
}  // namespace haichi::mpi
