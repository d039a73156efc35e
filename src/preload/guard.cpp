#include "preload/guard.h"

#include <dlfcn.h>

#include <typeinfo>

#include "base/log.h"

namespace haichi::preload {

constinit thread_local int depth __attribute__((tls_model("initial-exec"))) = 0;
constinit thread_local const void* outermost __attribute__((tls_model("initial-exec"))) = nullptr;

void report_thrown(const char* name, const char* what) noexcept {
  try {
    log(LogLevel::error, "{}: haichi failed inside: {}", name, what);
  } catch (...) {
    // Not even memory for a line: the code that the program gets has to do.
  }
}

namespace {

const void* object_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

bool thrown_by_haichi() noexcept {
  const std::type_info* const type = abi::__cxa_current_exception_type();
  return type != nullptr &&
         object_of(type) == object_of(reinterpret_cast<const void*>(&thrown_by_haichi));
}

}  // namespace haichi::preload
