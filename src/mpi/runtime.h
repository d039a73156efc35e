// What lives as long as the MPI program: settings, placement of the world, recorder, report.
#pragma once

namespace haichi::mpi {

/// False if HAICHI_DISABLE is set: every hook is then a plain call. Constant over the life of the
/// process, no environment look-up after the first call.
bool active();

}  // namespace haichi::mpi
