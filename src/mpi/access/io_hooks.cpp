// Hooks of the collective data accesses.
#include "base/clock.h"
#include "generated/by_collective_access.h"
#include "mpi/access/access_clock.h"
#include "mpi/access/collective_io.h"
#include "mpi/files/file_table.h"

namespace haichi::mpi {
namespace {

/// Takes the call if all ranks can; otherwise makes the real one on all of them.
template <class Call>
int collective_access(const Call& call) {
  const auto state = FileTable::get().find(call.fh);
  if (!state) return call.real_call();
  const CollectiveCall access = collective_call(call);
  const AccessClock clock(*state, access);
  const CollectiveOutcome outcome = run_collective(call.fh, *state, access);
  if (outcome.taken) return give_outcome(call.fh, outcome, call.status);
  const int result = call.real_call();
  if (outcome.timed && result == MPI_SUCCESS) state->group->ways.end(now_ns());
  return result;
}

}  // namespace
}  // namespace haichi::mpi
