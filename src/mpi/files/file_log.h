// What the log of a run is told of a file; see log/run_log.h.
#pragma once

#include <cstdint>

#include "mpi/files/file_state.h"

namespace haichi::mpi {

/// After a call of the program's on a file, at `now_ns`: what is complete of it. What the log has
/// no time for goes with a later call.
void log_calls(FileState& state, int64_t now_ns);
/// Before a file is closed. More time may be spent: nothing may come for long.
void log_close(FileState& state);

}  // namespace haichi::mpi
