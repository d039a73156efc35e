#include "preload/guard.h"

#include "base/log.h"
#include "preload/library.h"

namespace haichi::preload {

constinit thread_local int depth __attribute__((tls_model("initial-exec"))) = 0;

void report_thrown(const char* name, const char* what) noexcept {
  try {
    log(LogLevel::error, "{}: haichi failed inside: {}", name, what);
  } catch (...) {
    // Not even memory for a line: the code that the program gets has to do.
  }
}

namespace {

// Before the program starts: a wrong shim says so rather than crash in the middle. With
// HAICHI_DISABLE too: a forwarded call has already passed its handles through parameters of the
// wrong size. A process without an MPI, or without one yet, is none of our business.
__attribute__((constructor)) void check_library() {
  const Library library = find_library();
  if (library.handle) require_fit(library);
}

}  // namespace
}  // namespace haichi::preload
