// The end of a job that cannot go on.
#pragma once

#include <time.h>

#include <new>
#include <string_view>

#include "base/log.h"
#include "generated/real.h"
#include "mpi/compat/handles.h"

namespace haichi::mpi {

// Exit codes of sysexits.h.
inline constexpr int kNoMessagesExit = 69;   // EX_UNAVAILABLE
inline constexpr int kOutOfMemoryExit = 71;  // EX_OSERR
inline constexpr int kBadInputExit = 78;     // EX_CONFIG

/// Ends all ranks with MPI_Abort(3), a moment after what the caller has logged: at an abort MPICH's
/// launcher now and then throws away what it has not read yet (9 of 150 starts of a program that
/// aborts behind its line, none if it waits 20 ms).
inline void abort_job(int exit_code) {
  const timespec moment{0, 100'000'000};
  nanosleep(&moment, nullptr);
  real().Abort(handles().comm_world, exit_code);
}

/// Makes `call`, for which other ranks wait, or the program itself: where it runs out of memory the
/// job ends, with a word on `what`, instead of hanging.
template <class Call>
auto unless_out_of_memory(std::string_view what, Call call) -> decltype(call()) try {
  return call();
} catch (const std::bad_alloc&) {
  log(LogLevel::error, "out of memory in {}; the job ends", what);
  abort_job(kOutOfMemoryExit);
  return {};
}

}  // namespace haichi::mpi
