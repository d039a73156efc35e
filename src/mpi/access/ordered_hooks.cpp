// Hooks of the accesses at the shared file pointer in the order of the ranks.
#include "generated/by_ordered_access.h"
#include "mpi/access/access_clock.h"
#include "mpi/access/ordered_io.h"
#include "mpi/files/file_table.h"

namespace haichi::mpi {
namespace {

/// Takes the call if all ranks can; otherwise makes the real one on all of them.
template <class Call>
int ordered_access(const Call& call) {
  const auto state = FileTable::get().find(call.fh);
  if (!state) return call.real_call();
  const CollectiveCall access = collective_call(call);
  const AccessClock clock(*state, access);
  const CollectiveOutcome outcome = run_ordered(call.fh, *state, access);
  return outcome.taken ? give_outcome(call.fh, outcome, call.status) : call.real_call();
}

}  // namespace
}  // namespace haichi::mpi
