// What stands between an exported MPI function and haichi's hook: who passes straight through, and
// what happens if a hook throws.
//
// Both MPI_X and PMPI_X are exported, so calls that the MPI library makes of itself arrive here too
// (Open MPI's Fortran bindings call PMPI_X, and so may the library's inside). The depth guard
// tells them from the program's: see docs/adr/0002-interposition.md.
#pragma once

#include <cxxabi.h>

#include <exception>

#define HAICHI_EXPORT __attribute__((visibility("default")))

namespace haichi::mpi {
bool active();  // of mpi/runtime.h, which needs an mpi.h
}

namespace haichi::preload {

/// How many hooks are on this thread's stack. Initial-exec: one load, and no allocation at first
/// use by a thread, which may be inside malloc.
extern constinit thread_local int depth __attribute__((tls_model("initial-exec")));

/// True if a call is not for haichi: made inside a hook, or HAICHI_DISABLE is set.
inline bool passing() { return depth > 0 || !mpi::active(); }

/// One line in the log: the hook of `name` threw. Does not throw.
void report_thrown(const char* name, const char* what) noexcept;

/// Runs `hook` with the depth guard held and returns what it returns. A hook must not throw; if it
/// does all the same (memory is gone), nothing crosses the C edge: a line in the log, and the
/// result of `recover`.
///
/// What `recover` may do. It can't know how far the hook had come, and the MPI function must not
/// be called twice: a second collective write on one rank alone would wait for ever, or write
/// again. So a file function returns MPI_ERR_INTERN without any call, as MPI itself does when it
/// fails inside; the file's error handler by default returns. For MPI_Init and MPI_Finalize MPI
/// can be asked (MPI_Initialized, MPI_Finalized), and they are done if they were not. Functions
/// that return no error code are local and without effect, and are called.
///
/// pthread_cancel unwinds by an exception of its own, which must go on. It has no object:
/// sanitizers must not mind that the reference to it is to nothing.
template <class Hook, class Recover>
__attribute__((no_sanitize("undefined"))) auto guarded(const char* name, Hook hook, Recover recover)
    -> decltype(hook()) {
  struct Inside {
    Inside() { ++depth; }
    ~Inside() { --depth; }
  } inside;
  try {
    return hook();
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::exception& error) {
    report_thrown(name, error.what());
  } catch (...) {
    report_thrown(name, "an unknown exception");
  }
  return recover();
}

}  // namespace haichi::preload
