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
bool active();  // of mpi/job/runtime.h, which needs an mpi.h
}

namespace haichi::preload {

/// How many hooks are on this thread's stack. Initial-exec: one load, and no allocation at first
/// use by a thread, which may be inside malloc.
extern constinit thread_local int depth __attribute__((tls_model("initial-exec")));

/// The frame of the wrapper that the first of them was called by.
extern constinit thread_local const void* outermost __attribute__((tls_model("initial-exec")));

/// True if a call is not for haichi: made inside a hook, or HAICHI_DISABLE is set.
///
/// `frame` is the caller's, a wrapper. The program's error handlers run inside hooks and may leave
/// by longjmp, so that a hook is gone although it never returned: whoever calls from its place on
/// the stack, or from nearer the beginning, is not inside it.
inline bool passing(const void* frame = __builtin_frame_address(0)) {
  if (depth > 0 && frame >= outermost) [[unlikely]]
    depth = 0;
  return depth > 0 || !mpi::active();
}

/// Within a hook: the address behind the program's call of MPI; null on processors whose frames are
/// not known.
inline const void* called_from() {
#if defined(__x86_64__) || defined(__aarch64__)
  return static_cast<const void* const*>(outermost)[1];  // above the saved frame pointer
#else
  return nullptr;
#endif
}

/// True in a catch block if what was thrown is of haichi's: its type lies in this shared object, as
/// that of the C++ library does which is linked into it. The rest is the program's, thrown by a
/// callback that MPI ran.
bool thrown_by_haichi() noexcept;

/// The unwinder that is linked into the shim knows the registers only after its first use. The
/// program's may ask it before, about our frames, when a callback throws or a thread is cancelled:
/// so this is called before any hook runs.
void prepare_unwinding() noexcept;

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
/// What the program itself throws, in an error handler that MPI runs inside a hook, goes on to the
/// program as without haichi. pthread_cancel unwinds by an exception of its own, which must go on
/// too. It has no object: sanitizers must not mind that the reference to it is to nothing.
template <class Hook, class Recover>
__attribute__((no_sanitize("undefined"))) auto guarded(
    const char* name, Hook hook, Recover recover, const void* frame = __builtin_frame_address(0))
    -> decltype(hook()) {
  struct Inside {
    explicit Inside(const void* from) {
      if (depth++ == 0) outermost = from;
    }
    ~Inside() { --depth; }
  } inside(frame);
  try {
    return hook();
#ifdef __GLIBCXX__  // with LLVM's library no handler sees it
  } catch (const abi::__forced_unwind&) {
    throw;
#endif
  } catch (const std::exception& error) {
    if (!thrown_by_haichi()) throw;
    report_thrown(name, error.what());
  } catch (...) {
    if (!thrown_by_haichi()) throw;
    report_thrown(name, "an unknown exception");
  }
  return recover();
}

}  // namespace haichi::preload
